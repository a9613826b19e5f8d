import { agreedValue, agreesWith } from "@dataset-oracle/protocol/agreed-value";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import type { FailureReason } from "@dataset-oracle/protocol/operator-problem";
import type { QueryStatus } from "@dataset-oracle/protocol/query-status";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { type Outcome, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { Hex } from "viem";
import type { ObservedValue } from "../schedule/policy.js";
import type { Failure } from "./failures.js";
import type { ReportStatement } from "./statement.js";

/** A provider's checked report, or why there is none. */
export type ReportOrFailure = ReportStatement | Failure;

/** The outcome of a round, decided as the contract will decide it. */
export type QuorumDecision =
  | { readonly kind: "update"; readonly outcome: Outcome; readonly reports: readonly ReportStatement[] }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "no_quorum" };

/**
 * Decides as the contract will: values and "no data" never mix, and a member that did not sign the same outcome counts
 * as absent.
 *
 * @param members The size of the whole committee.
 */
export function decideByQuorum(members: number, answers: readonly ReportOrFailure[]): QuorumDecision {
  for (const outcome of ["OK", "NOT_AVAILABLE"] as const) {
    const reports = reportsOf(outcome, answers);
    if (reachesQuorum(reports.length, members)) return { kind: "update", outcome, reports };
  }
  const refusals = answers.filter((answer) => answer.kind === "failure" && answer.refuses === "key");
  return { kind: reachesQuorum(refusals.length, members) ? "unknown_key" : "no_quorum" };
}

/** Reports whether this many members of a committee are a quorum when all others are absent. */
export const reachesQuorum = (signers: number, members: number): boolean => isQuorum(signers, members - signers);

/** Returns the reports that state `outcome`. */
export function reportsOf(outcome: Outcome, answers: readonly ReportOrFailure[]): readonly ReportStatement[] {
  return answers.filter((answer) => answer.kind === "report").filter((report) => report.outcome === outcome);
}

/**
 * Finds the value on which the rows of a batch agree for one of its keys, as the contract will.
 *
 * @param members The size of the whole committee.
 * @param index The index of the key in the batch.
 * @returns Null without a quorum.
 */
export function agreedValueInBatch(
  kind: DatasetKind,
  members: number,
  rows: readonly SignedRow[],
  index: number,
): ObservedValue | null {
  const values: Hex[] = rows.flatMap((row) => (isMissing(row, index) ? [] : (row.values[index] as Hex)));
  if (reachesQuorum(values.length, members)) return { status: "OK", value: agreedValue(kind, values) };
  return reachesQuorum(rows.length - values.length, members) ? { status: "NOT_AVAILABLE" } : null;
}

/** What a dataset stores of a key. The value has 32 bytes; it is zero unless the status is OK. */
export interface StoredOutcome {
  readonly status: QueryStatus;
  readonly value: Hex;
}

/**
 * Decides what the rows of a batch store of one of its keys, as the contract will.
 *
 * @param index The index of the key in the batch.
 * @returns Null without a quorum.
 */
export function outcomeInBatch(
  kind: DatasetKind,
  { members, toleranceBps }: { readonly members: readonly unknown[]; readonly toleranceBps: bigint },
  rows: readonly SignedRow[],
  index: number,
): StoredOutcome | null {
  const agreed = agreedValueInBatch(kind, members.length, rows, index);
  if (agreed?.status !== "OK") return agreed && { status: agreed.status, value: ZERO_VALUE };
  const { value } = agreed;
  const values: Hex[] = rows.flatMap((row) => (isMissing(row, index) ? [] : (row.values[index] as Hex)));
  const agreeing = values.filter((one) => agreesWith(kind, value, one, toleranceBps)).length;
  const isOk =
    kind === "majority"
      ? 2 * agreeing > members.length
      : values.length - agreeing <= Math.floor((members.length - 1) / 3);
  return isOk ? { status: "OK", value } : { status: "DISAGREEMENT", value: ZERO_VALUE };
}

/** Too few data providers signed the same thing. */
export class NoQuorum extends Error {
  /** Who failed, and how: sentences, each with a space after it. */
  readonly failed: string;

  /**
   * @param members The size of the committee.
   * @param signed Says how many signed what; follows "Of 4 data providers, ".
   */
  constructor(
    readonly members: number,
    readonly signed: string,
    readonly failures: readonly Failure[],
  ) {
    const failed = failures.map(({ provider, host, detail }) => `${provider}${host ? ` (${host})` : ""}: ${detail}. `);
    super(`No quorum: of ${members} data providers, ${signed}. ${failed.join("")}`.trimEnd());
    this.name = "NoQuorum";
    this.failed = failed.join("");
  }

  /** True if there is none before somebody corrects a configuration. */
  get isLasting(): boolean {
    const lost = this.failures.filter(({ reason }) => NEEDS_CORRECTION.includes(reason)).length;
    return !reachesQuorum(this.members - lost, this.members);
  }
}

/** The reasons of failures that last until somebody corrects a configuration. */
const NEEDS_CORRECTION: readonly FailureReason[] = ["no_endpoint", "other_report", "wrong_signer"];
