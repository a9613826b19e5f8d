import { type Address, type Hex, hexToBigInt, keccak256, toHex } from "viem";
import { isMissing } from "./batch-report.js";
import { fullSignature } from "./compact-signature.js";
import { decodeUpdateArguments } from "./decode-update-arguments.js";
import { FastReportDigests } from "./fast-report-digests.js";
import { recoverSigner } from "./recover-signer.js";
import { type DataPoint, type Outcome, type ReportHeader, reportDigest, ZERO_VALUE } from "./report.js";

/** One provider's report about a key, read from an update's calldata. */
export interface DecodedReport {
  readonly provider: Address;
  readonly outcome: Outcome;
  /** 32 bytes; zero when the outcome is NOT_AVAILABLE. */
  readonly value: Hex;
}

/** The reports about one key in an update's calldata. */
export interface DecodedUpdate {
  /** In seconds since 1970. */
  readonly round: bigint;
  /** In committee order. */
  readonly reports: readonly DecodedReport[];
  /** The committee members whose report the update does not have. */
  readonly absentees: readonly Address[];
}

interface Signed {
  readonly content: Hex;
  readonly r: Hex;
  readonly vs: Hex;
}

/** Recovers the signer of a digest; null for a signature that the contract would refuse. */
type Recover = (digest: Hex, signature: Hex) => Promise<Address | null>;

/**
 * Reads the reports about a data point from the calldata of an update, single or batch. The providers' addresses are
 * recovered from their signatures.
 *
 * @param recover Another implementation of `recoverSigner`, for programs that have a faster one.
 * @returns Null if the calldata is not an update of the data point, or has an invalid signature.
 */
export async function decodeUpdate(
  data: Hex,
  dataPoint: DataPoint,
  recover: Recover = recoverSigner,
): Promise<DecodedUpdate | null> {
  const call = decodeUpdateArguments(data);
  if (call?.functionName === "update") {
    const [key, round, , , signed, absentees] = call.args;
    return key === dataPoint.key ? decodeSingle({ ...dataPoint, round }, "OK", signed, absentees, recover) : null;
  }
  if (call?.functionName === "updateNotAvailable") {
    const [key, round, , signed, absentees] = call.args;
    return key === dataPoint.key
      ? decodeSingle({ ...dataPoint, round }, "NOT_AVAILABLE", signed, absentees, recover)
      : null;
  }
  if (call?.functionName !== "updateBatch") return null;
  const [{ keyHashes, timestamp: round, values, rows, absentees }] = call.args;
  const index = keyHashes.indexOf(keccak256(dataPoint.key));
  if (index < 0 || values.length !== rows.length * keyHashes.length) return null;
  const { chainId, dataset } = dataPoint;
  const digests = new FastReportDigests(chainId, dataset, (bytes) => keccak256(bytes, "bytes"));
  const reports = await Promise.all(
    rows.map(async ({ content, ...signature }, i): Promise<DecodedReport | null> => {
      const row = values.slice(i * keyHashes.length, (i + 1) * keyHashes.length);
      const missing = hexToBigInt(content);
      const digest = toHex(digests.ofRowWithHashes(keyHashes, { missing, values: row, round }));
      const provider = await recover(digest, fullSignature(signature));
      const hasNoData = isMissing({ missing }, index);
      const value = hasNoData ? ZERO_VALUE : (row[index] ?? ZERO_VALUE);
      return provider && { provider, outcome: hasNoData ? "NOT_AVAILABLE" : "OK", value };
    }),
  );
  return toUpdate(round, reports, absentees);
}

async function decodeSingle(
  header: ReportHeader,
  outcome: Outcome,
  signed: readonly Signed[],
  absentees: readonly Address[],
  recover: Recover,
): Promise<DecodedUpdate | null> {
  const reports = await Promise.all(
    signed.map(async ({ content, ...signature }): Promise<DecodedReport | null> => {
      const provider = await recover(reportDigest({ ...header, outcome, value: content }), fullSignature(signature));
      return provider && { provider, outcome, value: outcome === "OK" ? content : ZERO_VALUE };
    }),
  );
  return toUpdate(header.round, reports, absentees);
}

function toUpdate(
  round: bigint,
  reports: readonly (DecodedReport | null)[],
  absentees: readonly Address[],
): DecodedUpdate | null {
  const known = reports.flatMap((report) => report ?? []);
  return known.length === reports.length ? { round, reports: known, absentees } : null;
}
