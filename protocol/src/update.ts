import { type Address, encodeFunctionData, type Hex } from "viem";
import { datasetAbi } from "./abi/dataset.js";
import type { Committee } from "./committee.js";
import { compactSignature, type Outcome, type ReportSubject } from "./report.js";

/** A provider's checked answer: its report's value, and its signature over the report. */
export interface SignedValue {
  readonly provider: Address;
  /** 32 bytes. */
  readonly value: Hex;
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
}

/**
 * The calldata of the update that stores a round's reports.
 *
 * @param outcome What all of the reports say.
 * @param reports From different members of the committee, in any order. Members without one are absentees.
 */
export function encodeUpdate(
  subject: ReportSubject,
  committee: Committee,
  outcome: Outcome,
  reports: readonly SignedValue[],
): Hex {
  const byProvider = new Map(reports.map((report) => [report.provider, report]));
  const present = committee.members.flatMap((member) => byProvider.get(member) ?? []);
  if (present.length !== reports.length) throw new Error("Every report must be of another member of the committee.");
  const signers = committee.members.reduce(
    (bits, member, i) => (byProvider.has(member) ? bits | (1n << BigInt(i)) : bits),
    0n,
  );
  const signed = present.map(({ value, signature }) => ({ content: value, ...compactSignature(signature) }));
  const absentees = committee.members.filter((member) => !byProvider.has(member));
  const { key, timestamp } = subject;
  return outcome === "OK"
    ? encodeFunctionData({
        abi: datasetAbi,
        functionName: "update",
        args: [key, timestamp, medianOf(present), signers, signed, absentees, committee.toleranceBps],
      })
    : encodeFunctionData({
        abi: datasetAbi,
        functionName: "updateNotAvailable",
        args: [key, timestamp, signers, signed, absentees, committee.toleranceBps],
      });
}

/** The lower middle value: the one that the contract proves. */
export function medianOf(reports: readonly SignedValue[]): Hex {
  // Values of one length in lower-case hex sort as the numbers that they are.
  const ascending = reports.map(({ value }) => value).toSorted();
  const median = ascending[Math.floor((ascending.length - 1) / 2)];
  if (median === undefined) throw new Error("No value has no median.");
  return median;
}
