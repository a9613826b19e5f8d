import type { KeyForm } from "@dataset-oracle/protocol/key";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { DecisionStore } from "./decision-store.js";
import type { Reading } from "./source/reading.js";
import type { ExplainedPrice } from "./spot-price.js";

/** A provider's figures for Prometheus, beside those of its requests and its process. No key's name is in them. */
export class Metrics {
  readonly #requests: Histogram<"source" | "outcome">;
  readonly #answers: Counter<"source" | "outcome">;
  readonly #ages: Histogram<"source">;
  readonly #deviations: Histogram<"source">;
  readonly #decisions: Counter<"form" | "outcome">;
  readonly #reports: Counter<"outcome">;
  readonly #rows: Counter;
  readonly #writes: Histogram;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registry = registry;
    this.#requests = new Histogram({
      name: "provider_source_request_duration_seconds",
      help: "How long requests to sources took, by outcome: ok, or why there was no answer.",
      labelNames: ["source", "outcome"],
      registers,
    });
    this.#answers = new Counter({
      name: "provider_source_prices_total",
      help: "What became of sources' prices of keys: used, or why one was dropped.",
      labelNames: ["source", "outcome"],
      registers,
    });
    this.#ages = new Histogram({
      name: "provider_source_quote_age_seconds",
      help: "How old quotes were when they were read, where the source says.",
      labelNames: ["source"],
      buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
      registers,
    });
    this.#deviations = new Histogram({
      name: "provider_source_deviation_ratio",
      help: "How far prices lay from the value that was taken, as a part of it.",
      labelNames: ["source"],
      buckets: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
      registers,
    });
    this.#decisions = new Counter({
      name: "provider_decisions_total",
      help: "Values and no-data decided, one for each key at each round, by the form of the key.",
      labelNames: ["form", "outcome"],
      registers,
    });
    this.#reports = new Counter({
      name: "provider_reports_signed_total",
      help: "Reports of one key signed.",
      labelNames: ["outcome"],
      registers,
    });
    this.#rows = new Counter({ name: "provider_rows_signed_total", help: "Rows of batches signed.", registers });
    this.#writes = new Histogram({
      name: "provider_database_write_duration_seconds",
      help: "How long decisions took to be on disk.",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    });
  }

  /** A request to a source was made, and took so many seconds. */
  sourceAsked(source: string, seconds: number, reading: Reading<unknown>): void {
    this.#requests.observe({ source, outcome: reading.ok ? "ok" : reading.failure }, seconds);
  }

  /** Sources' prices of a key came to something. `now` is in whole seconds since 1970. */
  priced(price: ExplainedPrice, now: bigint): void {
    for (const { source, quote, dropped } of price.sources) {
      this.#answers.inc({ source, outcome: dropped?.reason ?? "used" });
      if (quote === null) continue;
      if (quote.quotedAt !== null) this.#ages.observe({ source }, Number(now - quote.quotedAt));
      // For people to see only: the value itself never passes through a float.
      if (price.kind === "price") {
        this.#deviations.observe({ source }, Math.abs(Number(quote.price) / Number(price.price) - 1));
      }
    }
  }

  /** A source of a published spec gave no value. Such sources share one name: strangers could make up any number. */
  /** What became of what a published spec's source said. */
  publishedRead(reading: Reading<bigint>): void {
    this.#answers.inc({ source: "published", outcome: reading.ok ? "used" : reading.failure });
  }

  decided(form: KeyForm, outcome: string): void {
    this.#decisions.inc({ form, outcome });
  }

  reportSigned(outcome: string): void {
    this.#reports.inc({ outcome });
  }

  rowSigned(): void {
    this.#rows.inc();
  }

  written(seconds: number): void {
    this.#writes.observe(seconds);
  }

  /** Shows how full the database is, and whether the provider is ready, whenever the figures are read. */
  watch(decisions: Pick<DecisionStore, "count">, isReady: () => boolean): void {
    const registers = [this.#registry];
    new Gauge({
      name: "provider_database_decisions",
      help: "DecisionStore that the database holds.",
      registers,
      collect() {
        this.set(decisions.count);
      },
    });
    new Gauge({
      name: "provider_ready",
      help: "1 when it can sign the rounds that operators ask for, else 0.",
      registers,
      collect() {
        this.set(isReady() ? 1 : 0);
      },
    });
  }
}
