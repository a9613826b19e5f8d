import { type Address, type Hex, hashTypedData, type LocalAccount } from "viem";
import { recoverSigner, reportDomain } from "./report.js";

/** The most keys that a batch may have: there is one bit for each. */
export const MAX_BATCH_KEYS = 256;

/** The data points of one dataset, at one round, on which a provider reports at once. */
export interface BatchSubject {
  readonly chainId: number;
  readonly dataset: Address;
  /** 1 to `MAX_BATCH_KEYS`, no two alike. */
  readonly keys: readonly Hex[];
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
}

/** What one provider says of each key: a row of a batch. */
export interface BatchReport extends BatchSubject {
  /** One bit for each key, the lowest for the first: whether the provider has no data for it. */
  readonly missing: bigint;
  /** One for each key, in 32 bytes; zero where it is missing. */
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

function typedData({ chainId, dataset, keys, missing, values, timestamp }: BatchReport) {
  return {
    domain: reportDomain(chainId, dataset),
    types: BATCH_REPORT_TYPES,
    primaryType: "BatchReport",
    message: { keys, missing, values, timestamp },
  } as const;
}

/** The digest that a provider signs. */
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

/** Who signed a row, or null when the signature is not one that the contract would take; as `recoverReporter`. */
export function recoverBatchReporter(report: BatchReport, signature: string): Promise<Address | null> {
  return recoverSigner(batchReportDigest(report), signature);
}

/** Whether a row has no data for the key at a place. */
export function isMissing({ missing }: Pick<BatchReport, "missing">, place: number): boolean {
  return ((missing >> BigInt(place)) & 1n) === 1n;
}
