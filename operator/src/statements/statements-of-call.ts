import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { fullSignature, type Outcome } from "@dataset-oracle/protocol/report";
import { decodeFunctionData, type Hex, hexToBigInt, keccak256 } from "viem";
import type { Dataset, Network } from "../network.js";
import { recoverSigner } from "../update/recover-signer.js";
import type { Statement } from "./statement.js";

/** Holds what members of the committee signed, from the calldata of an update. */
export function holdCall({ feeds, statements }: Network, dataset: Dataset, data: Hex): void {
  const keys = feeds.filter((one) => one.dataset === dataset).flatMap((one) => one.feeds.map(({ key }) => key));
  const keyOf = (hash: Hex) => keys.find((key) => keccak256(key) === hash);
  for (const statement of statementsOfCall(dataset, data, keyOf)) statements.add(dataset, statement);
}

/**
 * Reads what members of the committee signed, from the calldata of an update.
 *
 * @param keyOf Finds a key by its hash: a batch names nothing more. Rows with an unknown key are left out.
 */
export function statementsOfCall(
  dataset: Dataset,
  data: Hex,
  keyOf: (hash: Hex) => Hex | undefined,
): readonly Statement[] {
  const call = decode(data);
  if (call === null) return [];
  const { members } = dataset.committee.current;
  const signerOf = (digest: Uint8Array, signature: Hex) => {
    const signer = recoverSigner(digest, signature);
    return members.find((member) => member === signer);
  };
  if (call.functionName === "updateBatch") {
    const [{ keyHashes, timestamp: round, values: all, rows }] = call.args;
    const keys = keyHashes.flatMap((hash) => keyOf(hash) ?? []);
    if (keys.length !== keyHashes.length || all.length !== rows.length * keys.length) return [];
    return rows.flatMap(({ content, ...compact }, index): Statement[] => {
      const values = all.slice(index * keys.length, (index + 1) * keys.length);
      const [missing, signature] = [hexToBigInt(content), fullSignature(compact)];
      const provider = signerOf(dataset.digests.ofRowOfHashes(keyHashes, { missing, values, round }), signature);
      return provider === undefined ? [] : [{ kind: "row", provider, round, keys, missing, values, signature }];
    });
  }
  const [key, round] = call.args;
  const digestOf = dataset.digests.of({ key, round });
  const outcome: Outcome = call.functionName === "update" ? "OK" : "NOT_AVAILABLE";
  const reports = call.functionName === "update" ? call.args[4] : call.args[3];
  return reports.flatMap(({ content: value, ...compact }): Statement[] => {
    const signature = fullSignature(compact);
    const provider = signerOf(digestOf(outcome, value), signature);
    return provider === undefined ? [] : [{ kind: "report", provider, round, key, outcome, value, signature }];
  });
}

function decode(data: Hex) {
  try {
    const call = decodeFunctionData({ abi: datasetAbi, data });
    switch (call.functionName) {
      case "update":
      case "updateNotAvailable":
      case "updateBatch":
        return call;
      default:
        return null;
    }
  } catch {
    // The selector is none of the dataset's, or the arguments are not its.
    return null;
  }
}
