import { fullSignature } from "@dataset-oracle/protocol/compact-signature";
import { signedIn } from "@dataset-oracle/protocol/packed-update";
import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import type { Dataset } from "../../dataset/dataset.js";
import { searchUpdates } from "../../dataset/update-events.js";
import type { Statement } from "../../reports/statement.js";
import { readBlockNumber } from "../../rpc/blocks.js";
import { readTransaction } from "../../rpc/transactions.js";
import type { HeldStatements } from "./held-statements.js";

/**
 * The maximum number of transactions that are read each time; the others have to wait. Sending more to hide one costs the
 * sender gas for each.
 */
const MAX_READ = 50;
const MAX_BLOCKS = 1_000;
/** The maximum number of transactions that are known to have been read: at least those of all searches of a block. */
const MAX_REMEMBERED = 1_000;
/** Each block is searched this many times, because a node that lags shows it as empty. None that is used lags as long. */
const SEARCHES = 6;

/** Reads what is signed in the mined updates of a dataset, whoever sent them. */
export class MinedStatements {
  /** The newest block at each of the last readings. */
  #heads: readonly number[] = [];
  readonly #read = new LRUCache<Hex, true>({ max: MAX_REMEMBERED });

  constructor(
    private readonly dataset: Dataset,
    private readonly held: HeldStatements,
  ) {}

  /**
   * Holds what is signed in the updates that were mined lately. The first reading only finds the head.
   *
   * @throws RpcError
   */
  async read(): Promise<void> {
    const { dataset, held } = this;
    const { client } = dataset;
    const head = await readBlockNumber(client);
    const from = Math.max(Math.min(head, ...this.#heads) + 1, head - MAX_BLOCKS);
    const unread = new Set<Hex>();
    for await (const updates of searchUpdates(dataset, null, from, head)) {
      for (const { transactionHash } of updates) if (!this.#read.has(transactionHash)) unread.add(transactionHash);
    }
    for (const hash of [...unread].slice(0, MAX_READ)) {
      const sent = await readTransaction(client, hash);
      // Not there yet.
      if (sent === null) continue;
      for (const statement of statementsInCalldata(dataset, sent.input)) held.add(dataset, statement);
      this.#read.set(hash, true);
    }
    this.#heads = [...this.#heads, head].slice(-SEARCHES);
  }
}

/** The calldata of a batch contains its keys as hashes only. A batch with an unknown key is left out. */
function statementsInCalldata(dataset: Dataset, data: Hex): readonly Statement[] {
  const update = decodeUpdateCall(data);
  if (update === null) return [];
  const { round } = update;
  const { members } = dataset.committee.current;
  const signerOf = (digest: Uint8Array, signature: Hex) => {
    const signer = recoverSignerSync(digest, signature);
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
