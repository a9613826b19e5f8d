import { type Report, type ReportSubject, signReport, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { ReportRequest, SignedReport } from "@dataset-oracle/protocol/wire";
import type { Logger } from "pino";
import { type LocalAccount, numberToHex } from "viem";
import { type FoundKey, findServed } from "./find-served.js";
import { roundForgotten, roundInFuture, roundTooOld, tooManyRounds } from "./problems.js";
import type { Rounds } from "./rounds.js";
import type { Served } from "./served.js";
import type { SourceReader } from "./source/reader.js";
import { askSources, decidePrice, failures } from "./spot-price.js";
import { judgeWindow, MAX_BEHIND, USUAL_AGE } from "./window.js";

/** What a reporter works with. */
export interface ReporterParts {
  readonly account: LocalAccount;
  readonly served: Served;
  readonly minSources: number;
  readonly reader: SourceReader;
  readonly rounds: Rounds<SignedReport>;
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
   * @throws ProblemError when it is refused; then nothing was signed.
   */
  async report(request: ReportRequest): Promise<SignedReport> {
    const { served, rounds, now } = this.#parts;
    const found = findServed(served, request);
    if (!found.ok) throw found.problem;
    const round = BigInt(request.timestamp);
    const dataPoint = `${found.dataset.chainId}/${found.dataset.address}/${found.key.key}`;
    const remembered = rounds.recall(round, dataPoint);
    if (remembered !== undefined) return remembered;
    const time = now();
    refuseOutsideWindow(round, time);
    if (round <= rounds.forgottenThrough) throw roundForgotten(round, rounds.forgottenThrough);
    const begun = rounds.begin(round, dataPoint, time - MAX_BEHIND, () => this.#make(found, round));
    if (begun === null) throw tooManyRounds();
    return begun;
  }

  /** Whether it can sign the rounds that operators ask for now. */
  isReady(): boolean {
    return this.#parts.now() - USUAL_AGE > this.#parts.rounds.forgottenThrough;
  }

  async #make({ dataset, key }: FoundKey, round: bigint): Promise<SignedReport> {
    const { account, reader, minSources, now } = this.#parts;
    const logger = this.#parts.logger.child({ network: dataset.chainId, key: key.name, round: Number(round) });
    const answers = await askSources(key.sources, reader);
    for (const { source, failure, detail } of failures(answers))
      logger.warn({ source, failure, detail }, "source failed");
    const price = decidePrice(answers, minSources);
    // Sources take time: a value that came when the round's window had passed is not signed.
    refuseOutsideWindow(round, now());
    const subject = { chainId: dataset.chainId, dataset: dataset.address, key: key.key, timestamp: round };
    const report = toReport(subject, price);
    const signature = await signReport(account, report);
    logger.info({ outcome: report.outcome, price: price?.toString() }, "report signed");
    return toWire(report, account.address, signature);
  }
}

function refuseOutsideWindow(round: bigint, now: bigint): void {
  const verdict = judgeWindow(round, now);
  if (verdict === "too_old") throw roundTooOld(round, now);
  if (verdict === "in_future") throw roundInFuture(round, now);
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
