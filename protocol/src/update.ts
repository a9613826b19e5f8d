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
import { type BatchReport, type BatchSubject, isMissing } from "./batch-report.js";
import type { Committee } from "./committee.js";
import { compactSignature, type Outcome, type QueryStatus, type ReportSubject, ZERO_VALUE } from "./report.js";
import type { DatasetKind } from "./wire.js";

/** With their selectors, which are hashes, found once. */
const UPDATE = prepareEncodeFunctionData({ abi: datasetAbi, functionName: "update" });
const UPDATE_NOT_AVAILABLE = prepareEncodeFunctionData({ abi: datasetAbi, functionName: "updateNotAvailable" });

/** A provider's checked answer: its report's value, and its signature over the report. */
export interface SignedValue {
  readonly provider: Address;
  /** 32 bytes. */
  readonly value: Hex;
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
}

/** A provider's checked row of a batch, and its signature over it. */
export interface SignedRow extends Pick<BatchReport, "missing" | "values"> {
  readonly provider: Address;
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
}

/**
 * The calldata of the update that stores a round's reports.
 *
 * @param kind The dataset's.
 * @param outcome What all of the reports say.
 * @param reports From different members of the committee, in any order. Members without one are absentees.
 */
export function encodeUpdate(
  kind: DatasetKind,
  { key, timestamp }: ReportSubject,
  committee: Committee,
  outcome: Outcome,
  reports: readonly SignedValue[],
): Hex {
  const { present, signers, absentees } = seat(committee, reports);
  const signed = present.map(({ value, signature }) => ({ content: value, ...compactSignature(signature) }));
  const { toleranceBps } = committee;
  return outcome === "OK"
    ? encodeFunctionData({
        ...UPDATE,
        args: [key, timestamp, agreedValue(kind, valuesOf(present)), signers, signed, absentees, toleranceBps],
      })
    : encodeFunctionData({
        ...UPDATE_NOT_AVAILABLE,
        args: [key, timestamp, signers, signed, absentees, toleranceBps],
      });
}

/**
 * The calldata of the update that stores a round of many keys. Each must be known to the dataset.
 *
 * @param kind The dataset's.
 * @param rows From different members of the committee, in any order. Members without one are absentees.
 */
export function encodeUpdateBatch(
  kind: DatasetKind,
  { keys, timestamp }: BatchSubject,
  committee: Committee,
  rows: readonly SignedRow[],
): Hex {
  const { present, signers, absentees } = seat(committee, rows);
  for (const { provider, values } of present) {
    if (values.length === keys.length) continue;
    throw new Error(`The row of ${provider} has ${values.length} values for ${keys.length} keys.`);
  }
  const batch = {
    keyHashes: keys.map((key) => keccak256(key)),
    timestamp,
    toleranceBps: committee.toleranceBps,
    signers,
    rows: present.map(({ missing, signature }) => ({
      content: numberToHex(missing, { size: 32 }),
      ...compactSignature(signature),
    })),
    values: present.flatMap(({ values }) => values),
    picks: concatHex(keys.map((_, place) => numberToHex(pick(kind, present, place), { size: 1 }))),
    absentees,
  };
  return encodeFunctionData({ abi: datasetAbi, functionName: "updateBatch", args: [batch] });
}

/** Puts what members sent into the committee's order, with one bit for each place that sent something. */
function seat<T extends { readonly provider: Address }>({ members }: Committee, sent: readonly T[]) {
  const byProvider = new Map(sent.map((item) => [item.provider, item]));
  const present = members.flatMap((member) => byProvider.get(member) ?? []);
  if (present.length !== sent.length) throw new Error("Every report must be of another member of the committee.");
  const signers = members.reduce((bits, member, i) => (byProvider.has(member) ? bits | (1n << BigInt(i)) : bits), 0n);
  return { present, signers, absentees: members.filter((member) => !byProvider.has(member)) };
}

/** The row whose value those of a key come to; the first where no row has one, as none is looked at then. */
function pick(kind: DatasetKind, rows: readonly SignedRow[], place: number): number {
  const values = rows.map((row) => (isMissing(row, place) ? null : (row.values[place] as Hex)));
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? 0 : values.indexOf(agreedValue(kind, known));
}

const valuesOf = (reports: readonly SignedValue[]) => reports.map(({ value }) => value);

/**
 * What values come to in a dataset of a kind, and what it proves: the lower middle one, or the most frequent.
 *
 * @param values In 32 bytes each, as lower-case hex.
 */
export function agreedValue(kind: DatasetKind, values: readonly Hex[]): Hex {
  const agreed = kind === "median" ? medianOf(values) : mostFrequent(values);
  if (agreed === undefined) throw new Error("No values come to nothing.");
  return agreed;
}

/** The value that a round's reports store: what their values come to when the status is OK, else zero. */
export function storedValue(kind: DatasetKind, status: QueryStatus, reports: readonly SignedValue[]): Hex {
  return status === "OK" ? agreedValue(kind, valuesOf(reports)) : ZERO_VALUE;
}

function medianOf(values: readonly Hex[]): Hex | undefined {
  // Values of one length in lower-case hex sort as the numbers that they are.
  return values.toSorted()[Math.floor((values.length - 1) / 2)];
}

/** Of several that are equally frequent the first: the contract takes any of them. */
function mostFrequent(values: readonly Hex[]): Hex | undefined {
  const counts = new Map<Hex, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return values.find((value) => counts.get(value) === most);
}
