import { scrapedMetrics } from "@dataset-oracle/service/http-server/metrics";
import type { Clock } from "@dataset-oracle/service/process/context";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ServedKey } from "./keys/served-keys.js";
import type { ValueWithSources } from "./value/combined-value.js";

/** A provider's metrics for Prometheus, besides those of its requests and its process. They contain no keys. */
export class Metrics {
  readonly sourceRequests: Histogram<"source" | "outcome">;
  readonly backOffs: Counter<"source">;
  readonly decisions: Counter<"form" | "outcome">;
  readonly signedReports: Counter<"outcome">;
  readonly signedRows: Counter;
  readonly leaseWrites: Histogram;
  readonly #quotes: Counter<"source" | "outcome">;
  readonly #ages: Histogram<"source">;
  readonly #deviations: Histogram<"source">;

  constructor(private readonly registry: Registry) {
    const registers = [registry];
    const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets?: number[]) =>
      new Histogram({ name, help, labelNames, ...(buckets && { buckets }), registers });
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers });
    this.sourceRequests = histogram(
      "provider_source_request_duration_seconds",
      "Duration of requests to sources, by outcome: ok, or why there was no answer.",
      ["source", "outcome"],
    );
    this.backOffs = counter("provider_source_back_offs_total", "How often a source started to fail.", "source");
    this.#quotes = counter(
      "provider_source_prices_total",
      "Sources' values: used, or why dropped.",
      "source",
      "outcome",
    );
    this.#ages = histogram(
      "provider_source_quote_age_seconds",
      "Age of quotes when they were read, where the source gives a time.",
      ["source"],
      [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    );
    this.#deviations = histogram(
      "provider_source_deviation_ratio",
      "Deviation of prices from the median, as a fraction of it.",
      ["source"],
      [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
    );
    this.decisions = counter("provider_decisions_total", "Decisions, one for each key and round.", "form", "outcome");
    this.signedReports = counter("provider_reports_signed_total", "Signed reports of one key.", "outcome");
    this.signedRows = counter("provider_rows_signed_total", "Signed rows of batches.");
    this.leaseWrites = histogram(
      "provider_lease_write_duration_seconds",
      "Duration of writes of the lease to disk.",
      [],
      [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    );
  }

  /**
   * Counts the sources' parts in a value. All sources of published specs count as `published`, because anyone can
   * publish a spec and make up sources.
   *
   * @param at When the reading started, in whole seconds since 1970.
   */
  valueRead(kind: ServedKey["kind"], value: ValueWithSources, at: bigint): void {
    for (const { source, quote, dropped } of value.sources) {
      const outcome = dropped?.code ?? "used";
      this.#quotes.inc({ source: kind === "spot_price" ? source : "published", outcome });
      if (quote === null || kind !== "spot_price") continue;
      if (quote.quotedAt !== null) this.#ages.observe({ source }, Number(at - quote.quotedAt));
      // A float is precise enough for a metric; the value itself never passes through one.
      if (value.kind === "value") {
        this.#deviations.observe({ source }, Math.abs(Number(quote.value) / Number(value.value) - 1));
      }
    }
  }

  /** Adds the metrics that are computed when they are read: the number of decisions, the lease's loss, and readiness. */
  watch(memory: { readonly count: number }, isLost: () => boolean, isReady: () => Promise<boolean>): void {
    const add = scrapedMetrics(this.registry);
    add("provider_remembered_decisions", [], "Decisions in memory.", () => [[{}, memory.count]]);
    const lost = "1 once the lease is lost to another process, or its files were removed: the process ends.";
    add("provider_lease_lost", [], lost, () => [[{}, isLost() ? 1 : 0]]);
    const help = "1 when the provider can sign the rounds that operators ask for, else 0.";
    add("provider_ready", [], help, async () => [[{}, (await isReady()) ? 1 : 0]]);
  }

  /** Adds the time at which an operator asked last. @returns What is to be called when one asks. */
  watchOperators(clock: Pick<Clock, "now">): () => void {
    const help = "When an operator asked last; at first the start. Absent without `operators`.";
    const asked = new Gauge({ name: "provider_operator_asked_timestamp_seconds", help, registers: [this.registry] });
    const note = () => asked.set(clock.now() / 1_000);
    note();
    return note;
  }
}
