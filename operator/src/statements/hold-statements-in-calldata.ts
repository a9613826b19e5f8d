import { fullSignature } from "@dataset-oracle/protocol/compact-signature";
import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
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
  const call = decodeUpdateCall(data);
  if (call === null) return [];
  const { members } = dataset.committee.current;
  const signerOf = (digest: Uint8Array, signature: Hex) => {
    const signer = recoverSigner(digest, signature);
    return members.find((member) => member === signer);
  };
  if (call.kind === "batch") {
    const { keyHashes, round, values: all, rows } = call;
    const keys = findFeedKeysByHash(dataset, keyHashes);
    if (keys === null || all.length !== rows.length * keys.length) return [];
    return rows.flatMap(({ content, ...compact }, index): Statement[] => {
      const values = all.slice(index * keys.length, (index + 1) * keys.length);
      const [missing, signature] = [hexToBigInt(content), fullSignature(compact)];
      const provider = signerOf(dataset.digests.ofRowWithHashes(keyHashes, { missing, values, round }), signature);
      return provider === undefined ? [] : [{ kind: "row", provider, round, keys, missing, values, signature }];
    });
  }
  const { key, round, outcome, signed } = call;
  const digestOf = dataset.digests.of({ key, round });
  return signed.flatMap(({ content: value, ...compact }): Statement[] => {
    const signature = fullSignature(compact);
    const provider = signerOf(digestOf(outcome, value), signature);
    return provider === undefined ? [] : [{ kind: "report", provider, round, key, outcome, value, signature }];
  });
}
