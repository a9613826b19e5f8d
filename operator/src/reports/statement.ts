import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { SignedRow, SignedValue } from "@dataset-oracle/protocol/encode-update";
import type { Outcome } from "@dataset-oracle/protocol/report";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";

/** A provider's signed statement about one key at a round. */
export interface ReportStatement extends SignedValue {
  readonly kind: "report";
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly key: Hex;
  readonly outcome: Outcome;
  /** Why there is no value, in the provider's words, which it does not sign: at most 200 characters of printable ASCII. */
  readonly reason?: string;
}

/** A provider's signed statement about several keys at a round: a row of a batch. */
export interface RowStatement extends SignedRow {
  readonly kind: "row";
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly keys: readonly Hex[];
}

/** A signed report or row. Its signature has been checked. */
export type Statement = ReportStatement | RowStatement;

/** Decides whether a statement of a committee member counts. */
export type StatementFilter = (dataset: Dataset, statement: Statement) => boolean;

/** Lists the keys that a statement is about. */
export const keysOf = (statement: Statement): readonly Hex[] =>
  statement.kind === "report" ? [statement.key] : statement.keys;

/**
 * Returns what a statement says about one of its keys: a value, or that there is none. Two that differ contradict each
 * other.
 */
export function contentOf(statement: Statement, key: Hex): Hex | "NOT_AVAILABLE" {
  if (statement.kind === "report") return statement.outcome === "OK" ? statement.value : "NOT_AVAILABLE";
  const index = statement.keys.indexOf(key);
  return isMissing(statement, index) ? "NOT_AVAILABLE" : (statement.values[index] ?? "NOT_AVAILABLE");
}
