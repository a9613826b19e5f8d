import { type Address, bytesToHex, encodeFunctionData, type Hex, hexToBigInt } from "viem";
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
  const places = new Map(committee.members.map((member, place) => [member, place]));
  const placeOf = (member: Address): number => {
    const place = places.get(member);
    if (place === undefined) throw new Error(`${member} is not a member of the committee.`);
    return place;
  };
  const ascending = reports.toSorted((a, b) => compare(hexToBigInt(a.value), hexToBigInt(b.value)));
  const signers = new Set(reports.map(({ provider }) => provider));
  const absentees = committee.members.filter((member) => !signers.has(member));
  const seats = [...ascending.map(({ provider }) => provider), ...absentees];
  return encodeFunctionData({
    abi: datasetAbi,
    functionName: outcome === "OK" ? "update" : "updateNotAvailable",
    args: [
      subject.key,
      subject.timestamp,
      committee.toleranceBps,
      ascending.map(({ value, signature }) => ({ value, ...compactSignature(signature) })),
      absentees,
      bytesToHex(Uint8Array.from(seats, placeOf)),
    ],
  });
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
