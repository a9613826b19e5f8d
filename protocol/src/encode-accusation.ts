import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { datasetAbi } from "./abi/dataset.js";
import type { BatchReport } from "./batch-report.js";
import type { Committee } from "./committee-hash.js";
import { compactSignature } from "./compact-signature.js";
import { QUERY_STATUSES } from "./query-status.js";
import type { Report, ReportHeader } from "./report.js";

/** A statement that a provider signed about a key: a report on it, or a row of a batch that includes it. */
export type AccusedStatement = (
  | Pick<Report, "outcome" | "value">
  | Pick<BatchReport, "keys" | "missing" | "values">
) & {
  /** 65 bytes: r, s, v. */
  readonly signature: Hex;
};

/**
 * Encodes the calldata that ejects a committee member that signed two different contents for one key and round.
 *
 * @param a One of the contents that the member signed for the key and the round.
 * @param b A different content that it signed for them.
 * @throws When a row does not have the key.
 */
export function encodeAccusation(
  { key, round }: Pick<ReportHeader, "key" | "round">,
  a: AccusedStatement,
  b: AccusedStatement,
  { members, toleranceBps }: Committee,
): Hex {
  return encodeFunctionData({
    abi: datasetAbi,
    functionName: "accuse",
    args: [keccak256(key), round, statementOf(a, key), statementOf(b, key), members, toleranceBps],
  });
}

function statementOf(signed: AccusedStatement, key: Hex) {
  const signature = compactSignature(signed.signature);
  if ("outcome" in signed) {
    const outcome = BigInt(QUERY_STATUSES.indexOf(signed.outcome));
    return { outcome, keyHashes: [], values: [signed.value], index: 0n, ...signature };
  }
  const { keys, missing, values } = signed;
  const index = keys.indexOf(key);
  if (index === -1)
    throw new Error(`The row of ${keys.length} keys does not have the key ${key}. Pass a row that has it.`);
  return {
    outcome: missing,
    keyHashes: keys.map((name) => keccak256(name)),
    values,
    index: BigInt(index),
    ...signature,
  };
}
