import { type BatchReport, signBatchReport } from "@dataset-oracle/protocol/batch-report";
import { type Report, signReport } from "@dataset-oracle/protocol/report";
import type {
  BatchReportRequest,
  ReportAnswer,
  ReportRequest,
  SignedBatchReport,
  SourceNote,
} from "@dataset-oracle/protocol/wire";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/trace";
import type { Logger } from "pino";
import { bytesToHex, type Hex, type LocalAccount, numberToHex } from "viem";
import { type Decision, toDecision } from "./decision.js";
import type { DecisionStore } from "./decision-store.js";
import type { EvidenceStore } from "./evidence/evidence-store.js";
import { RecordingReader } from "./evidence/recording-reader.js";
import { type FoundKey, findDataset, findKey, findServed, type WebKeyFinder } from "./find-data-point.js";
import type { Metrics } from "./metrics.js";
import { roundForgotten, roundInFuture, roundTooOld, sourceBusy, tooManyRounds } from "./problems.js";
import { Recent } from "./recent.js";
import type { Served, ServedDataset } from "./served.js";
import { judgeWindow, USUAL_AGE } from "./signing-window.js";
import type { SourceReader } from "./source/reader.js";
import { toNotes, toWebNotes } from "./source-notes.js";
import { askSources, decidePrice, type Policy } from "./spot-price.js";
import { readWebValue, type WebOracle, type WebOracleKey } from "./web-oracle/web-oracle.js";

/** What a reporter works with. */
export interface ReporterParts {
  /** Where it signs no digests, as one whose key is elsewhere may not, it signs typed data. */
  readonly account: LocalAccount;
  readonly served: Served;
  readonly policy: Policy;
  /** Null when the Web Oracle's keys are not served. */
  readonly webOracle: Pick<WebOracle, "find"> | null;
  readonly reader: SourceReader;
  readonly decisions: Pick<DecisionStore, "prunedThrough" | "isWritable" | "recall" | "decide">;
  readonly signedReports: Recent<ReportAnswer>;
  readonly signedRows: Recent<SignedBatchReport>;
  /** What was read, kept to be replayed; null when it is not kept. Strangers choose how much Web Oracle keys read. */
  readonly evidence: Readonly<Record<"spotPrices" | "webOracle", Pick<EvidenceStore, "keep">>> | null;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What was read for a key; nothing is known while too few of its sources can be asked. */
type ReadValue = KnownValue | { readonly ok: false; readonly retryAfter: number };

interface KnownValue {
  readonly ok: true;
  readonly decision: Decision;
  readonly sources: SourceNote[];
  /** Keeps the evidence of a decision that stands. */
  readonly keep: () => void;
}

/** Who asks. */
export interface Caller {
  /** Whether the reserved part of the sources' rate limits may be used. */
  readonly isReserved: boolean;
  /** What the log's lines of the request have in common. */
  readonly trace: Trace | null;
}

/** For how many data points and rounds it is remembered where their values came from. */
const EXPLANATIONS_KEPT = 20_000;

/**
 * Makes a provider's reports, one by one and as rows of a batch: for a data point at a round always with the same
 * value, whoever and however often it is asked for.
 */
export class Reporter {
  readonly #parts: ReporterParts;
  readonly #explanations = new Recent<SourceNote[]>(EXPLANATIONS_KEPT);

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  /**
   * The signed report that a request asks for.
   *
   * @throws ProblemError when it is refused; then nothing was signed.
   */
  async report(request: ReportRequest, caller: Caller): Promise<ReportAnswer> {
    const { served, signedReports } = this.#parts;
    const found = await findServed(served, request, this.#webKeys(caller));
    if (!found.ok) throw found.problem;
    const round = BigInt(request.timestamp);
    const id = `${round}/${found.dataPoint}`;
    const before = signedReports.get(id);
    if (before !== undefined) return before;
    const [decision] = await this.#decide(found.dataset, [found], round, caller);
    return signedReports.getOrMake(id, () => this.#sign(found, round, decision as Decision, caller));
  }

  /** The signed row that a request asks for; otherwise as `report`. */
  async row(request: BatchReportRequest, caller: Caller): Promise<SignedBatchReport> {
    const { served, signedRows } = this.#parts;
    const found = findDataset(served, request);
    if (!found.ok) throw found.problem;
    const webKeys = this.#webKeys(caller);
    const keys = await Promise.all(
      request.keys.map(async (key) => {
        const one = await findKey(found.dataset, key, webKeys);
        if (!one.ok) throw one.problem;
        return one;
      }),
    );
    const round = BigInt(request.timestamp);
    const decisions = await this.#decide(found.dataset, keys, round, caller);
    const report: BatchReport = {
      chainId: found.dataset.chainId,
      dataset: found.dataset.address,
      keys: keys.map(({ key }) => key.key),
      round,
      missing: decisions.reduce((bits, { outcome }, i) => (outcome === "OK" ? bits : bits | (1n << BigInt(i))), 0n),
      values: decisions.map(({ value }) => value),
    };
    const digest = bytesToHex(found.dataset.digests.ofRow(report));
    return signedRows.getOrMake(digest, () => this.#signRow(report, digest, caller));
  }

  /** Whether it can sign the rounds that operators ask for now. */
  isReady(): boolean {
    const { now, decisions } = this.#parts;
    return decisions.isWritable && now() - USUAL_AGE > decisions.prunedThrough;
  }

  /** What it says of each key of a dataset at a round: what was decided before, else what the sources say now. */
  async #decide(
    { keyForm }: ServedDataset,
    keys: readonly FoundKey[],
    round: bigint,
    caller: Caller,
  ): Promise<Decision[]> {
    const { decisions, metrics } = this.#parts;
    const decided = await decisions.recall(
      round,
      keys.map(({ dataPoint }) => dataPoint),
    );
    const open = keys.filter(({ dataPoint }) => !decided.has(dataPoint));
    if (open.length > 0) {
      // Before anything is begun: who may not ask the sources must not keep others from signing.
      this.#refuseUnsignable(round);
      const read = await this.#readAll(open, round, caller);
      // Sources take time, in which the round's window may have passed.
      this.#refuseUnsignable(round);
      const proposed = new Map<string, Decision>();
      for (const [dataPoint, { decision }] of read) proposed.set(dataPoint, decision);
      const fresh = await decisions.decide(round, proposed);
      if (fresh === null) throw tooManyRounds();
      for (const [dataPoint, decision] of fresh) {
        decided.set(dataPoint, decision);
        const mine = read.get(dataPoint);
        // Otherwise somebody else's request decided it.
        if (mine?.decision === decision) metrics.decided(keyForm, decision.outcome);
        // Another reading may have been decided on first.
        if (mine === undefined || mine.decision.value !== decision.value) continue;
        void this.#explanations.getOrMake(`${round}/${dataPoint}`, async () => mine.sources);
        mine.keep();
      }
    }
    return keys.map((key) => decided.get(key.dataPoint) as Decision);
  }

  /** Refuses a round that must not be signed for the first time now. */
  #refuseUnsignable(round: bigint): void {
    const { decisions, now } = this.#parts;
    const time = now();
    const verdict = judgeWindow(round, time);
    if (verdict === "too_old") throw roundTooOld(round, time);
    if (verdict === "in_future") throw roundInFuture(round, time);
    if (round <= decisions.prunedThrough) throw roundForgotten(round, decisions.prunedThrough);
  }

  async #readAll(keys: readonly FoundKey[], round: bigint, caller: Caller) {
    const values = await Promise.all(keys.map((key) => this.#read(key, round, caller)));
    const read = new Map<string, KnownValue>();
    const busy: string[] = [];
    let retryAfter = 0;
    for (const [i, { key, dataPoint }] of keys.entries()) {
      const value = values[i] as ReadValue;
      if (value.ok) {
        read.set(dataPoint, value);
      } else {
        busy.push(key.key);
        retryAfter = Math.max(retryAfter, value.retryAfter);
      }
    }
    if (busy.length > 0) throw sourceBusy(retryAfter, busy);
    return read;
  }

  async #read(found: FoundKey, round: bigint, caller: Caller): Promise<ReadValue> {
    if ("request" in found.key) return this.#readWeb(found, found.key, round, caller);
    const { policy, now, evidence, logger, metrics } = this.#parts;
    const { sources } = found.key;
    const reader = new RecordingReader(this.#parts.reader);
    const at = now();
    const price = decidePrice(await askSources(sources, { reader, isReserved: caller.isReserved, policy, at }), {
      policy,
      at,
    });
    metrics.priced(price, at);
    for (const { source, dropped } of price.sources) {
      if (dropped === null) continue;
      const { reason: failure, detail } = dropped;
      logger.warn({ ...fieldsOf(found, round, caller), source, failure, detail }, "source failed");
    }
    if (price.kind === "busy") return { ok: false, retryAfter: price.retryAfter };
    const decision = toDecision(price.kind === "price" ? price.price : null);
    const { answers } = reader;
    const keep = () =>
      evidence?.spotPrices.keep({
        kind: "spot_price",
        ...requestOf(found, round),
        ...decision,
        policy,
        at,
        sources,
        answers,
      });
    return { ok: true, decision, sources: toNotes(price.sources), keep };
  }

  async #readWeb(found: FoundKey, key: WebOracleKey, round: bigint, caller: Caller): Promise<ReadValue> {
    const { now, evidence, logger, metrics } = this.#parts;
    const reader = new RecordingReader(this.#parts.reader);
    const at = now();
    const { combined, answers } = await readWebValue(key, reader, caller.isReserved);
    const fields = fieldsOf(found, round, caller);
    for (const { source, reading } of answers) {
      metrics.publishedRead(reading);
      if (reading.ok) continue;
      const { failure, detail } = reading;
      logger.warn({ ...fields, source, failure, detail }, "source failed");
    }
    if (combined.kind === "busy") return { ok: false, retryAfter: combined.retryAfter };
    if (combined.kind === "none") logger.warn({ ...fields, reason: combined.reason }, "no value");
    const decision = toDecision(combined.kind === "value" ? combined.value : null);
    const sources = toWebNotes(answers, found.dataset.kind);
    const { spec } = key.compiled;
    const { answers: recorded } = reader;
    const keep = () =>
      evidence?.webOracle.keep({
        kind: "web_oracle",
        ...requestOf(found, round),
        ...decision,
        spec,
        at,
        answers: recorded,
      });
    return { ok: true, decision, sources, keep };
  }

  #webKeys({ isReserved }: Caller): WebKeyFinder {
    const { webOracle } = this.#parts;
    return webOracle && ((dataset, key) => webOracle.find(dataset, key, isReserved));
  }

  async #sign(found: FoundKey, round: bigint, { outcome, value }: Decision, caller: Caller): Promise<ReportAnswer> {
    const { account, logger, metrics } = this.#parts;
    const { dataset, key } = found;
    const report: Report = {
      chainId: dataset.chainId,
      dataset: dataset.address,
      key: key.key,
      round,
      outcome,
      value,
    };
    const hash = bytesToHex(dataset.digests.of(report)(outcome, value));
    const signature = await (account.sign?.({ hash }) ?? signReport(account, report));
    metrics.reportSigned(outcome);
    logger.info({ ...fieldsOf(found, round, caller), outcome, value }, "report signed");
    const sources = await this.#explanations.get(`${round}/${found.dataPoint}`);
    return {
      network_id: report.chainId,
      dataset: report.dataset,
      key: report.key,
      timestamp: Number(round),
      provider: account.address,
      outcome,
      value,
      signature,
      ...(sources !== undefined && { sources }),
    };
  }

  async #signRow(report: BatchReport, hash: Hex, { trace }: Caller): Promise<SignedBatchReport> {
    const { account, logger, metrics } = this.#parts;
    const { chainId, dataset, keys, round, missing, values } = report;
    const signature = await (account.sign?.({ hash }) ?? signBatchReport(account, report));
    metrics.rowSigned();
    const row = { network: chainId, dataset, keys: keys.length, missing: missing.toString(2), round: Number(round) };
    logger.info({ ...traceFieldsOf(trace), ...row }, "row signed");
    return {
      network_id: chainId,
      dataset,
      keys: [...keys],
      timestamp: Number(round),
      provider: account.address,
      missing: numberToHex(missing, { size: 32 }),
      values: [...values],
      signature,
    };
  }
}

/** What every line of the log about a data point at a round has. */
const fieldsOf = ({ dataset, key }: FoundKey, round: bigint, { trace }: Caller) => ({
  ...traceFieldsOf(trace),
  network: dataset.chainId,
  key: key.name,
  round: Number(round),
});

/** What asks for the report of a data point at a round. */
const requestOf = ({ dataset, key }: FoundKey, round: bigint): ReportRequest => ({
  network_id: dataset.chainId,
  dataset: dataset.address,
  key: key.key,
  timestamp: Number(round),
});
