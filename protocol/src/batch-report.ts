import { type Address, type Hex, hashTypedData, type LocalAccount } from "viem";
import { recoverSigner } from "./recover-signer.js";
import { reportDomain } from "./report.js";

/** The maximum number of keys in a batch: `missing` has one bit for each. */
export const MAX_BATCH_KEYS = 256;

/** The keys of one dataset and the round that a batch report is about. */
export interface BatchHeader {
  readonly chainId: number;
  readonly dataset: Address;
  /** 1 to `MAX_BATCH_KEYS` distinct keys. */
  readonly keys: readonly Hex[];
  /** In seconds since 1970. */
  readonly round: bigint;
}

/** One provider's statement about every key of a batch: a row of the batch. */
export interface BatchReport extends BatchHeader {
  /** One bit for each key, lowest bit first; a set bit means that the provider has no data for that key. */
  readonly missing: bigint;
  /** One value of 32 bytes for each key; zero where it is missing. */
  readonly values: readonly Hex[];
}

/** The EIP-712 type that `IDataset` documents. */
export const BATCH_REPORT_TYPES = {
  BatchReport: [
    { name: "keys", type: "bytes[]" },
    { name: "missing", type: "uint256" },
    { name: "values", type: "bytes32[]" },
    { name: "timestamp", type: "uint256" },
  ],
} as const;

function typedData({ chainId, dataset, keys, missing, values, round }: BatchReport) {
  return {
    domain: reportDomain(chainId, dataset),
    types: BATCH_REPORT_TYPES,
    primaryType: "BatchReport",
    message: { keys, missing, values, timestamp: round },
  } as const;
}

/** Returns the EIP-712 digest that a provider signs. */
export function batchReportDigest(report: BatchReport): Hex {
  return hashTypedData(typedData(report));
}

/**
 * Signs a row of a batch.
 *
 * @returns 65 bytes: r, s (the lower one), v (27 or 28).
 */
export function signBatchReport(account: LocalAccount, report: BatchReport): Promise<Hex> {
  return account.signTypedData(typedData(report));
}

/** Recovers the signer of a row, or returns null under the conditions of `recoverSigner`. */
export function recoverBatchReporter(report: BatchReport, signature: string): Promise<Address | null> {
  return recoverSigner(batchReportDigest(report), signature);
}

/** Returns true if a row has no data for the key at an index. */
export function isMissing({ missing }: Pick<BatchReport, "missing">, index: number): boolean {
  return ((missing >> BigInt(index)) & 1n) === 1n;
}
