import {
  type Address,
  concatHex,
  decodeFunctionData,
  domainSeparator,
  encodeAbiParameters,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  stringToHex,
} from "viem";
import { datasetAbi } from "./abi/dataset.js";
import { isMissing } from "./batch-report.js";
import {
  type Outcome,
  type ReportSubject,
  recoverReporter,
  recoverSigner,
  reportDomain,
  ZERO_VALUE,
} from "./report.js";

/** What one provider signed of a key, in an update that was sent. */
export interface CarriedReport {
  readonly provider: Address;
  readonly outcome: Outcome;
  /** 32 bytes; zero when the outcome is NOT_AVAILABLE. */
  readonly value: Hex;
}

/** What an update's calldata says of one key. */
export interface CarriedRound {
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
  /** In the committee's order. */
  readonly reports: readonly CarriedReport[];
  /** The members without a report. */
  readonly absentees: readonly Address[];
}

interface Signed {
  readonly content: Hex;
  readonly r: Hex;
  readonly vs: Hex;
}

const BATCH_TYPEHASH = keccak256(
  stringToHex("BatchReport(bytes[] keys,uint256 missing,bytes32[] values,uint256 timestamp)"),
);

/**
 * Reads the reports of a key out of the calldata of an update, single or batch: the opposite of `encodeUpdate` and
 * `encodeUpdateBatch`. Who signed is recovered from the signatures.
 *
 * @returns Null for what is no update of the key, or has a signature that nobody made.
 */
export async function readCarried(
  data: Hex,
  subject: Pick<ReportSubject, "chainId" | "dataset" | "key">,
): Promise<CarriedRound | null> {
  const call = decodeCall(data);
  if (call?.functionName === "update") {
    const [key, timestamp, , , signed, absentees] = call.args;
    return key === subject.key ? single({ ...subject, timestamp }, "OK", signed, absentees) : null;
  }
  if (call?.functionName === "updateNotAvailable") {
    const [key, timestamp, , signed, absentees] = call.args;
    return key === subject.key ? single({ ...subject, timestamp }, "NOT_AVAILABLE", signed, absentees) : null;
  }
  if (call?.functionName !== "updateBatch") return null;
  const [{ keyHashes, timestamp, values, rows, absentees }] = call.args;
  const place = keyHashes.indexOf(keccak256(subject.key));
  if (place < 0 || values.length !== rows.length * keyHashes.length) return null;
  const reports = await Promise.all(
    rows.map(async ({ content, ...signature }, row): Promise<CarriedReport | null> => {
      const ofRow = values.slice(row * keyHashes.length, (row + 1) * keyHashes.length);
      const missing = hexToBigInt(content);
      const digest = rowDigest(subject, keyHashes, missing, ofRow, timestamp);
      const provider = await recoverSigner(digest, fullSignature(signature));
      const isAway = isMissing({ missing }, place);
      const value = isAway ? ZERO_VALUE : (ofRow[place] ?? ZERO_VALUE);
      return provider && { provider, outcome: isAway ? "NOT_AVAILABLE" : "OK", value };
    }),
  );
  return toRound(timestamp, reports, absentees);
}

function decodeCall(data: Hex) {
  try {
    return decodeFunctionData({ abi: datasetAbi, data });
  } catch {
    return null;
  }
}

async function single(
  subject: ReportSubject,
  outcome: Outcome,
  signed: readonly Signed[],
  absentees: readonly Address[],
): Promise<CarriedRound | null> {
  const reports = await Promise.all(
    signed.map(async ({ content, ...signature }): Promise<CarriedReport | null> => {
      const provider = await recoverReporter({ ...subject, outcome, value: content }, fullSignature(signature));
      return provider && { provider, outcome, value: outcome === "OK" ? content : ZERO_VALUE };
    }),
  );
  return toRound(subject.timestamp, reports, absentees);
}

function toRound(
  timestamp: bigint,
  reports: readonly (CarriedReport | null)[],
  absentees: readonly Address[],
): CarriedRound | null {
  const known = reports.flatMap((report) => report ?? []);
  return known.length === reports.length ? { timestamp, reports: known, absentees } : null;
}

/** As `batchReportDigest`, of keys that are known by their hashes alone. */
function rowDigest(
  { chainId, dataset }: Pick<ReportSubject, "chainId" | "dataset">,
  keyHashes: readonly Hex[],
  missing: bigint,
  values: readonly Hex[],
  timestamp: bigint,
): Hex {
  const words = [
    BATCH_TYPEHASH,
    keccak256(concatHex(keyHashes)),
    missing,
    keccak256(concatHex(values)),
    timestamp,
  ] as const;
  const types = ["bytes32", "bytes32", "uint256", "bytes32", "uint256"].map((type) => ({ type }));
  const struct = keccak256(encodeAbiParameters(types, words));
  return keccak256(concatHex(["0x1901", domainSeparator({ domain: reportDomain(chainId, dataset) }), struct]));
}

/** A signature of 65 bytes; the opposite of `compactSignature`. */
function fullSignature({ r, vs }: Omit<Signed, "content">): Hex {
  const word = hexToBigInt(vs);
  const v = 27n + (word >> 255n);
  const s = word & ((1n << 255n) - 1n);
  return concatHex([r, numberToHex(s, { size: 32 }), numberToHex(v, { size: 1 })]);
}
