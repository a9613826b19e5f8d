import {
  type Address,
  type Hex,
  hashTypedData,
  hexToBigInt,
  isHex,
  type LocalAccount,
  recoverAddress,
  size,
  slice,
  type TypedDataDomain,
} from "viem";

/** What a query, or a report, says of a data point; the index is the contract's `QueryStatus`. */
export const QUERY_STATUSES = ["INVALID", "OK", "NOT_AVAILABLE", "DISAGREEMENT"] as const;
export type QueryStatus = (typeof QUERY_STATUSES)[number];

/** What a provider can say of a key: that it has a value, or that it serves the key but has none now. */
export type Outcome = "OK" | "NOT_AVAILABLE";

/** The data point, at the round, on which a provider reports. */
export interface ReportSubject {
  readonly chainId: number;
  readonly dataset: Address;
  readonly key: Hex;
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
}

/** What one provider says. */
export interface Report extends ReportSubject {
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

/** The EIP-712 domain of a dataset. */
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
      timestamp: report.timestamp,
    },
  } as const;
}

/** The digest that a provider signs. */
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

/** Half the order of secp256k1. A signature with a higher s is a second form of another signature. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Who signed a report, or null when the signature is not one that the contract would take: 65 bytes, r and s above
 * zero, s not above half the curve's order, v 27 or 28.
 */
export function recoverReporter(report: Report, signature: string): Promise<Address | null> {
  return recoverSigner(reportDigest(report), signature);
}

/** Who signed a digest, or null; as `recoverReporter`. */
export async function recoverSigner(digest: Hex, signature: string): Promise<Address | null> {
  if (!isHex(signature, { strict: true }) || signature.length !== 132) return null;
  const v = hexToBigInt(slice(signature, 64, 65));
  if (v !== 27n && v !== 28n) return null;
  if (hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER) return null;
  try {
    return await recoverAddress({ hash: digest, signature });
  } catch {
    // r or s is out of range, or r is on no point of the curve.
    return null;
  }
}

/** A signature as the contract reads it: r, and s with the parity of v in its highest bit (EIP-2098). */
export function compactSignature(signature: Hex): { readonly r: Hex; readonly vs: Hex } {
  if (size(signature) !== 65) throw new Error(`A signature has 65 bytes; this one has ${size(signature)}.`);
  const parity = hexToBigInt(slice(signature, 64, 65)) - 27n;
  const vs = hexToBigInt(slice(signature, 32, 64)) | (parity << 255n);
  return { r: slice(signature, 0, 32), vs: `0x${vs.toString(16).padStart(64, "0")}` };
}
