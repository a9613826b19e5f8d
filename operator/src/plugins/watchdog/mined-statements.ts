import { fullSignature } from "@dataset-oracle/protocol/compact-signature";
import { signedIn } from "@dataset-oracle/protocol/packed-update";
import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import type { Hex } from "viem";
import type { Dataset } from "../../dataset/dataset.js";
import { readUpdates } from "../../dataset/update-events.js";
import type { Statement } from "../../reports/statement.js";
import { readBlockNumber } from "../../rpc/blocks.js";
import { readTransaction } from "../../rpc/transactions.js";
import type { HeldStatements } from "./held-statements.js";

/**
 * The maximum number of transactions that are read each time; the others are skipped. Sending more to hide one costs the
 * sender gas for each.
 */
const MAX_READ = 50;
const MAX_BLOCKS = 1_000;

/** Reads what is signed in the mined updates of a dataset, whoever sent them. */
export class MinedStatements {
  /** The first block that was not read; null before the first reading, which only finds the head. */
  #next: number | null = null;

  constructor(
    private readonly dataset: Dataset,
    private readonly held: HeldStatements,
  ) {}

  /**
   * Holds what is signed in the updates that were mined since the last reading.
   *
   * @throws RpcError
   */
  async read(): Promise<void> {
    const { dataset, held } = this;
    const { client } = dataset;
    const head = await readBlockNumber(client);
    if (this.#next !== null && this.#next <= head) {
      const updates = await readUpdates(dataset, null, Math.max(this.#next, head - MAX_BLOCKS), head);
      const hashes = new Set(updates.map(({ transactionHash }) => transactionHash));
      for (const hash of [...hashes].slice(0, MAX_READ)) {
        const sent = await readTransaction(client, hash);
        if (sent === null) continue;
        for (const statement of statementsInCalldata(dataset, sent.input)) held.add(dataset, statement);
      }
    }
    this.#next = head + 1;
  }
}

/** The calldata of a batch contains its keys as hashes only. A batch with an unknown key is left out. */
function statementsInCalldata(dataset: Dataset, data: Hex): readonly Statement[] {
  const update = decodeUpdateCall(data);
  if (update === null) return [];
  const { round } = update;
  const { members } = dataset.committee.current;
  const signerOf = (digest: Uint8Array, signature: Hex) => {
    const signer = recoverSigner(digest, signature);
    return members.find((member) => member === signer);
  };
  if (update.kind === "batch") {
    const { keyHashes } = update;
    const keys = dataset.keys.ofHashes(keyHashes);
    if (keys === null) return [];
    return signedIn(update.members).flatMap(({ missing, values, ...compact }): Statement[] => {
      const signature = fullSignature(compact);
      const provider = signerOf(dataset.digests.ofRowWithHashes(keyHashes, { missing, values, round }), signature);
      return provider === undefined ? [] : [{ kind: "row", provider, round, keys, missing, values, signature }];
    });
  }
  const { key, outcome } = update;
  const digestOf = dataset.digests.of({ key, round });
  return signedIn(update.members).flatMap(({ value, ...compact }): Statement[] => {
    const signature = fullSignature(compact);
    const provider = signerOf(digestOf(outcome, value), signature);
    return provider === undefined ? [] : [{ kind: "report", provider, round, key, outcome, value, signature }];
  });
}
