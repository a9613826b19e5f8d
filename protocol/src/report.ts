import { type Address, type Hex, hashTypedData, type LocalAccount, type TypedDataDomain } from "viem";
import { QUERY_STATUSES } from "./query-status.js";
import { recoverSigner } from "./recover-signer.js";

/** The outcomes a provider can report: it has a value, or it serves the key but has no value now. */
export type Outcome = "OK" | "NOT_AVAILABLE";

/** A value that a dataset stores, identified by network, dataset and key. */
export interface DataPoint {
  readonly chainId: number;
  readonly dataset: Address;
  /** Lower-case hex. */
  readonly key: Hex;
}

/** The data point and the round that a report is about. */
export interface ReportHeader extends DataPoint {
  /** The time the report is about, in seconds since 1970. On the wire and in the contracts it is the `timestamp`. */
  readonly round: bigint;
}

/** One provider's statement about a data point at a round. */
export interface Report extends ReportHeader {
  readonly outcome: Outcome;
  /** 32 bytes; all zero when the outcome is NOT_AVAILABLE. */
  readonly value: Hex;
}

export const ZERO_VALUE: Hex = `0x${"00".repeat(32)}`;

/** The EIP-712 type that `IDataset` documents. */
export const REPORT_TYPES = {
  Report: [
    { name: "key", type: "bytes" },
    { name: "outcome", type: "uint8" },
    { name: "value", type: "bytes32" },
    { name: "timestamp", type: "uint256" },
  ],
} as const;

/** Returns the EIP-712 domain of a dataset. */
export function reportDomain(chainId: number, dataset: Address): TypedDataDomain {
  return { name: "Dataset Oracle", version: "1", chainId, verifyingContract: dataset };
}

function typedData(report: Report) {
  return {
    domain: reportDomain(report.chainId, report.dataset),
    types: REPORT_TYPES,
    primaryType: "Report",
    message: {
      key: report.key,
      outcome: QUERY_STATUSES.indexOf(report.outcome),
      value: report.value,
      timestamp: report.round,
    },
  } as const;
}

/** Returns the EIP-712 digest that a provider signs. */
export function reportDigest(report: Report): Hex {
  return hashTypedData(typedData(report));
}

/**
 * Signs a report.
 *
 * @returns 65 bytes: r, s (the lower one), v (27 or 28).
 */
export function signReport(account: LocalAccount, report: Report): Promise<Hex> {
  return account.signTypedData(typedData(report));
}

/** Recovers the signer of a report, or returns null under the conditions of `recoverSigner`. */
export function recoverReporter(report: Report, signature: string): Promise<Address | null> {
  return recoverSigner(reportDigest(report), signature);
}
