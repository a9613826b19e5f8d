import { type Address, type Hex, keccak256 } from "viem";
import { agreedValue } from "./agreed-value.js";
import { type BatchHeader, type BatchReport, isMissing } from "./batch-report.js";
import type { Committee } from "./committee-hash.js";
import { compactSignature } from "./compact-signature.js";
import type { DatasetKind } from "./dataset-kind.js";
import { packUpdate } from "./packed-update.js";
import { type Outcome, type ReportHeader, ZERO_VALUE } from "./report.js";

/** A provider's verified answer: the value of its report, and its signature over the report. */
export interface SignedValue {
  readonly provider: Address;
  /** 32 bytes. */
  readonly value: Hex;
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
}

/** A provider's verified row of a batch, and its signature over it. */
export interface SignedRow extends Pick<BatchReport, "missing" | "values"> {
  readonly provider: Address;
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
}

/**
 * Packs the update that stores the reports of one key.
 *
 * @param kind The dataset's kind, which decides the value that is proven.
 * @param outcome The outcome that all of the reports have in common.
 * @param reports Reports of different committee members, in any order. Members without one become absentees.
 * @throws When two reports have the same signer, or a signer is not in the committee; and when a report of "no data" has
 *   a value other than 0, which an update cannot carry.
 */
export function encodeUpdate(
  kind: DatasetKind,
  { key, round }: Pick<ReportHeader, "key" | "round">,
  committee: Committee,
  outcome: Outcome,
  reports: readonly SignedValue[],
): Hex {
  const { present, members } = inCommitteeOrder(committee, reports);
  const { toleranceBps } = committee;
  const values = present.map(({ value }) => value);
  const value = outcome === "OK" ? agreedValue(kind, values) : ZERO_VALUE;
  const carried = values.find((each) => outcome === "NOT_AVAILABLE" && each !== ZERO_VALUE);
  if (carried !== undefined) throw new Error(`A report of "no data" has the value ${carried}. Leave it out.`);
  return packUpdate({ kind: "update", round, toleranceBps, key, outcome, value, members });
}

/**
 * Packs the update that stores one round of many keys. The dataset must know each key already.
 *
 * @param kind The dataset's kind, which decides the values that are proven.
 * @param rows Rows of different committee members, in any order. Members without one become absentees.
 * @throws As `encodeUpdate`, and when a row does not have one value for each key.
 */
export function encodeUpdateBatch(
  kind: DatasetKind,
  { keys, round }: Pick<BatchHeader, "keys" | "round">,
  committee: Committee,
  rows: readonly SignedRow[],
): Hex {
  const { present, members } = inCommitteeOrder(committee, rows);
  for (const { provider, values } of present) {
    if (values.length === keys.length) continue;
    throw new Error(`The row of ${provider} has ${values.length} values for ${keys.length} keys. Pass one each.`);
  }
  const keyHashes = keys.map((key) => keccak256(key));
  const picks = keys.map((_, index) => pick(kind, present, index));
  return packUpdate({ kind: "batch", round, toleranceBps: committee.toleranceBps, keyHashes, picks, members });
}

/** Puts what members sent at their places in the committee, and the addresses of the others at theirs. */
function inCommitteeOrder<T extends SignedValue | SignedRow>(committee: Committee, sent: readonly T[]) {
  const byProvider = new Map(sent.map((item) => [item.provider, item]));
  const present = committee.members.flatMap((member) => byProvider.get(member) ?? []);
  if (present.length !== sent.length)
    throw new Error(
      "Two reports have the same signer, or a signer is not in the committee. Pass at most one report of each member.",
    );
  const members = committee.members.map((member) => {
    const item = byProvider.get(member);
    return item === undefined ? member : { ...item, ...compactSignature(item.signature) };
  });
  return { present, members };
}

/** Returns the index of a row that has the agreed value of a key; if no row has one, 0, which the contract ignores. */
function pick(kind: DatasetKind, rows: readonly SignedRow[], index: number): number {
  const values = rows.map((row) => (isMissing(row, index) ? null : (row.values[index] as Hex)));
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? 0 : values.indexOf(agreedValue(kind, known));
}
