import { type Report, type ReportSubject, signReport, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import type { Logger } from "pino";
import { type LocalAccount, numberToHex } from "viem";
import { type FoundKey, findServed } from "./find-served.js";
import { roundForgotten, roundInFuture, roundTooOld, sourceBusy, tooManyRounds } from "./problems.js";
import type { Rounds } from "./rounds.js";
import type { Served } from "./served.js";
import type { SourceReader } from "./source/reader.js";
import { askSources, decidePrice, failures } from "./spot-price.js";
import type { StateFile } from "./state-file.js";
import { judgeWindow, MAX_BEHIND, USUAL_AGE } from "./window.js";

/** What a reporter works with. */
export interface ReporterParts {
  readonly account: LocalAccount;
  readonly served: Served;
  readonly minSources: number;
  readonly reader: SourceReader;
  readonly rounds: Rounds<SignedReport>;
  readonly state: Pick<StateFile, "coverBefore">;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly logger: Logger;
}

/** Makes a provider's reports: one for a data point at a round, whoever and however often it is asked for. */
export class Reporter {
  readonly #parts: ReporterParts;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  /**
   * The signed report that a request asks for.
   *
   * @param isReserved Whether the caller may use the reserved part of the sources' rate limits.
   * @throws ProblemError when it is refused; then nothing was signed.
   */
  async report(request: ReportRequest, isReserved: boolean): Promise<SignedReport> {
    const { served, rounds, state } = this.#parts;
    const found = findServed(served, request);
    if (!found.ok) throw found.problem;
    const round = BigInt(request.timestamp);
    const dataPoint = `${found.dataset.chainId}/${found.dataset.address}/${found.key.key}`;
    const before = rounds.recall(round, dataPoint);
    if (before !== undefined) return before;
    this.#refuseUnsignable(round);
    // Before anything is begun: who may not ask the sources must not keep others from signing.
    const price = await this.#readPrice(found, round, isReserved);
    // Sources take time, in which others may have asked for the same, and the round's window may have passed.
    const meanwhile = rounds.recall(round, dataPoint);
    if (meanwhile !== undefined) return meanwhile;
    const time = this.#refuseUnsignable(round);
    state.coverBefore(round, time);
    const begun = rounds.begin(round, dataPoint, time - MAX_BEHIND, () => this.#sign(found, round, price));
    if (begun === null) throw tooManyRounds();
    return begun;
  }

  /** Whether it can sign the rounds that operators ask for now. */
  isReady(): boolean {
    return this.#parts.now() - USUAL_AGE > this.#parts.rounds.forgottenThrough;
  }

  /** Refuses a round that must not be signed for the first time now; returns the clock. */
  #refuseUnsignable(round: bigint): bigint {
    const { rounds, now } = this.#parts;
    const time = now();
    const verdict = judgeWindow(round, time);
    if (verdict === "too_old") throw roundTooOld(round, time);
    if (verdict === "in_future") throw roundInFuture(round, time);
    if (round <= rounds.forgottenThrough) throw roundForgotten(round, rounds.forgottenThrough);
    return time;
  }

  /** The price now, or null when sources failed so that there is none. */
  async #readPrice(found: FoundKey, round: bigint, isReserved: boolean): Promise<bigint | null> {
    const { reader, minSources } = this.#parts;
    const logger = this.#logger(found, round);
    const answers = await askSources(found.key.sources, reader, isReserved);
    for (const { source, failure, detail } of failures(answers))
      logger.warn({ source, failure, detail }, "source failed");
    const decision = decidePrice(answers, minSources);
    if (decision.kind === "busy") throw sourceBusy(decision.retryAfter);
    return decision.kind === "price" ? decision.price : null;
  }

  async #sign(found: FoundKey, round: bigint, price: bigint | null): Promise<SignedReport> {
    const { account } = this.#parts;
    const { dataset, key } = found;
    const subject = { chainId: dataset.chainId, dataset: dataset.address, key: key.key, timestamp: round };
    const report = toReport(subject, price);
    const signature = await signReport(account, report);
    this.#logger(found, round).info({ outcome: report.outcome, price: price?.toString() }, "report signed");
    return toWire(report, account.address, signature);
  }

  #logger({ dataset, key }: FoundKey, round: bigint): Logger {
    return this.#parts.logger.child({ network: dataset.chainId, key: key.name, round: Number(round) });
  }
}

function toReport(subject: ReportSubject, price: bigint | null): Report {
  if (price === null) return { ...subject, outcome: "NOT_AVAILABLE", value: ZERO_VALUE };
  return { ...subject, outcome: "OK", value: numberToHex(price, { size: 32 }) };
}

function toWire(report: Report, provider: string, signature: string): SignedReport {
  return {
    network_id: report.chainId,
    dataset: report.dataset,
    key: report.key,
    timestamp: Number(report.timestamp),
    provider,
    outcome: report.outcome,
    value: report.value,
    signature,
  };
}
