import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  prepareEncodeFunctionData,
} from "viem";
import { datasetAbi } from "./abi/dataset.js";
import { agreedValue } from "./agreed-value.js";
import { type BatchHeader, type BatchReport, isMissing } from "./batch-report.js";
import type { Committee } from "./committee-hash.js";
import { compactSignature } from "./compact-signature.js";
import type { DatasetKind } from "./dataset-kind.js";
import type { Outcome, ReportHeader } from "./report.js";

// Prepared once, because computing a selector takes a hash.
const UPDATE = prepareEncodeFunctionData({ abi: datasetAbi, functionName: "update" });
const UPDATE_NOT_AVAILABLE = prepareEncodeFunctionData({ abi: datasetAbi, functionName: "updateNotAvailable" });

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
 * Encodes the calldata of the update that stores the reports of one key.
 *
 * @param kind The dataset's kind, which decides the value that is proven.
 * @param outcome The outcome that all of the reports have in common.
 * @param reports Reports of different committee members, in any order. Members without one become absentees.
 * @throws When two reports have the same signer, or a signer is not in the committee.
 */
export function encodeUpdate(
  kind: DatasetKind,
  { key, round }: Pick<ReportHeader, "key" | "round">,
  committee: Committee,
  outcome: Outcome,
  reports: readonly SignedValue[],
): Hex {
  const { present, signers, absentees } = inCommitteeOrder(committee, reports);
  const signed = present.map(({ value, signature }) => ({ content: value, ...compactSignature(signature) }));
  const { toleranceBps } = committee;
  return outcome === "OK"
    ? encodeFunctionData({
        ...UPDATE,
        args: [key, round, agreedValue(kind, valuesOf(present)), signers, signed, absentees, toleranceBps],
      })
    : encodeFunctionData({
        ...UPDATE_NOT_AVAILABLE,
        args: [key, round, signers, signed, absentees, toleranceBps],
      });
}

/**
 * Encodes the calldata of the update that stores one round of many keys. The dataset must know each key already.
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
  const { present, signers, absentees } = inCommitteeOrder(committee, rows);
  for (const { provider, values } of present) {
    if (values.length === keys.length) continue;
    throw new Error(`The row of ${provider} has ${values.length} values for ${keys.length} keys. Pass one each.`);
  }
  const batch = {
    keyHashes: keys.map((key) => keccak256(key)),
    timestamp: round,
    toleranceBps: committee.toleranceBps,
    signers,
    rows: present.map(({ missing, signature }) => ({
      content: numberToHex(missing, { size: 32 }),
      ...compactSignature(signature),
    })),
    values: present.flatMap(({ values }) => values),
    picks: concatHex(keys.map((_, index) => numberToHex(pick(kind, present, index), { size: 1 }))),
    absentees,
  };
  return encodeFunctionData({ abi: datasetAbi, functionName: "updateBatch", args: [batch] });
}

/** Sorts what members sent by their index in the committee, and sets one bit in `signers` for each of them. */
function inCommitteeOrder<T extends { readonly provider: Address }>({ members }: Committee, sent: readonly T[]) {
  const byProvider = new Map(sent.map((item) => [item.provider, item]));
  const present = members.flatMap((member) => byProvider.get(member) ?? []);
  if (present.length !== sent.length)
    throw new Error(
      "Two reports have the same signer, or a signer is not in the committee. Pass at most one report of each member.",
    );
  const signers = members.reduce((bits, member, i) => (byProvider.has(member) ? bits | (1n << BigInt(i)) : bits), 0n);
  return { present, signers, absentees: members.filter((member) => !byProvider.has(member)) };
}

/** Returns the index of a row that has the agreed value of a key; if no row has one, 0, which the contract ignores. */
function pick(kind: DatasetKind, rows: readonly SignedRow[], index: number): number {
  const values = rows.map((row) => (isMissing(row, index) ? null : (row.values[index] as Hex)));
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? 0 : values.indexOf(agreedValue(kind, known));
}

const valuesOf = (reports: readonly SignedValue[]) => reports.map(({ value }) => value);
