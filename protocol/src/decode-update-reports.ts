import { type Address, type Hex, keccak256, toHex } from "viem";
import { isMissing } from "./batch-report.js";
import { fullSignature } from "./compact-signature.js";
import { FastReportDigests } from "./fast-report-digests.js";
import { absenteesOf, type PackedUpdate, signedIn } from "./packed-update.js";
import { recoverSigner } from "./recover-signer.js";
import { type DataPoint, type Outcome, ZERO_VALUE } from "./report.js";
import { decodeUpdateCall } from "./update-call.js";

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
  const update = decodeUpdateCall(data);
  const signed = update && signedReports(update, dataPoint);
  if (!signed) return null;
  const reports = await Promise.all(
    signed.map(async ({ digest, signature, ...report }): Promise<DecodedReport | null> => {
      const provider = await recover(toHex(digest), fullSignature(signature));
      return provider && { provider, ...report };
    }),
  );
  const known = reports.flatMap((report) => report ?? []);
  if (known.length < reports.length) return null;
  return { round: update.round, reports: known, absentees: absenteesOf(update) };
}

/** A report whose provider is not known yet. */
interface UnattributedReport extends Omit<DecodedReport, "provider"> {
  /** What the provider signed: this report, or the row of a batch that contains it. */
  readonly digest: Uint8Array;
  readonly signature: { readonly r: Hex; readonly vs: Hex };
}

/** Lists the reports about a data point; null if the update does not have it. */
function signedReports(
  update: PackedUpdate,
  { chainId, dataset, key }: DataPoint,
): readonly UnattributedReport[] | null {
  const digests = new FastReportDigests(chainId, dataset, (bytes) => keccak256(bytes, "bytes"));
  const { round } = update;
  if (update.kind === "update") {
    if (update.key !== key) return null;
    const { outcome } = update;
    const digestOf = digests.of({ key, round });
    return signedIn(update.members).map(({ value, ...signature }) => ({
      digest: digestOf(outcome, value),
      signature,
      outcome,
      value,
    }));
  }
  const { keyHashes } = update;
  const index = keyHashes.indexOf(keccak256(key));
  if (index < 0) return null;
  return signedIn(update.members).map(({ missing, values, ...signature }): UnattributedReport => {
    const digest = digests.ofRowWithHashes(keyHashes, { missing, values, round });
    return isMissing({ missing }, index)
      ? { digest, signature, outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
      : { digest, signature, outcome: "OK", value: values[index] ?? ZERO_VALUE };
  });
}
