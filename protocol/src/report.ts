import {
  type Address,
  concatHex,
  type Hex,
  hashTypedData,
  hexToBigInt,
  isHex,
  type LocalAccount,
  numberToHex,
  recoverAddress,
  size,
  slice,
  type TypedDataDomain,
} from "viem";

/** The statuses of a query's answer or of an update; the index is the contract's `QueryStatus`. */
export const QUERY_STATUSES = ["INVALID", "OK", "NOT_AVAILABLE", "DISAGREEMENT"] as const;
export type QueryStatus = (typeof QUERY_STATUSES)[number];

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

/** Half the order of secp256k1. A signature with a higher s is a malleated copy of another one. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Recovers the signer of a report. Returns null for a signature that the contract would reject: it must have 65 bytes,
 * r and s above zero, s at most half the curve's order, and v 27 or 28.
 */
export function recoverReporter(report: Report, signature: string): Promise<Address | null> {
  return recoverSigner(reportDigest(report), signature);
}

/** Recovers the signer of a digest, or returns null under the conditions of `recoverReporter`. */
export async function recoverSigner(digest: Hex, signature: string): Promise<Address | null> {
  if (!isHex(signature, { strict: true }) || signature.length !== 132) return null;
  const v = hexToBigInt(slice(signature, 64, 65));
  if (v !== 27n && v !== 28n) return null;
  if (hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER) return null;
  try {
    return await recoverAddress({ hash: digest, signature });
  } catch {
    // r or s is out of range, or r is the x-coordinate of no point on the curve.
    return null;
  }
}

/** Returns a signature in the form that the contract reads: r, and s with the parity of v in its highest bit (EIP-2098). */
export function compactSignature(signature: Hex): { readonly r: Hex; readonly vs: Hex } {
  if (size(signature) !== 65) throw new Error(`A signature has 65 bytes; this one has ${size(signature)}.`);
  const parity = hexToBigInt(slice(signature, 64, 65)) - 27n;
  const vs = hexToBigInt(slice(signature, 32, 64)) | (parity << 255n);
  return { r: slice(signature, 0, 32), vs: `0x${vs.toString(16).padStart(64, "0")}` };
}

/** Expands a compact signature to 65 bytes: the inverse of `compactSignature`. */
export function fullSignature({ r, vs }: { readonly r: Hex; readonly vs: Hex }): Hex {
  const word = hexToBigInt(vs);
  const v = 27n + (word >> 255n);
  const s = word & ((1n << 255n) - 1n);
  return concatHex([r, numberToHex(s, { size: 32 }), numberToHex(v, { size: 1 })]);
}
