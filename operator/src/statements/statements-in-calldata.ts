import { fullSignature } from "@dataset-oracle/protocol/compact-signature";
import { decodeUpdateArguments } from "@dataset-oracle/protocol/decode-update-arguments";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import { type Hex, hexToBigInt } from "viem";
import { findFeedKeysByHash } from "../feeds/find-keys-by-hash.js";
import type { Dataset, Network } from "../network.js";
import type { Statement } from "./statement.js";

/** Holds what members of the committee signed, from the calldata of an update. */
export function holdStatementsInCalldata(network: Network, dataset: Dataset, data: Hex): void {
  for (const statement of statementsInCalldata(dataset, data)) network.statements.add(dataset, statement);
}

/** The calldata of a batch contains its keys as hashes only. A batch with a key that is not a feed is left out. */
function statementsInCalldata(dataset: Dataset, data: Hex): readonly Statement[] {
  const call = decodeUpdateArguments(data);
  if (call === null) return [];
  const { members } = dataset.committee.current;
  const signerOf = (digest: Uint8Array, signature: Hex) => {
    const signer = recoverSigner(digest, signature);
    return members.find((member) => member === signer);
  };
  if (call.functionName === "updateBatch") {
    const [{ keyHashes, timestamp: round, values: all, rows }] = call.args;
    const keys = findFeedKeysByHash(dataset, keyHashes);
    if (keys === null || all.length !== rows.length * keys.length) return [];
    return rows.flatMap(({ content, ...compact }, index): Statement[] => {
      const values = all.slice(index * keys.length, (index + 1) * keys.length);
      const [missing, signature] = [hexToBigInt(content), fullSignature(compact)];
      const provider = signerOf(dataset.digests.ofRowWithHashes(keyHashes, { missing, values, round }), signature);
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
