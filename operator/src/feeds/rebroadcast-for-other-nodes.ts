import type { Address, Hex } from "viem";
import type { ChainClient } from "../chain/client.js";
import { readNonce } from "../chain/read-and-send-transactions.js";
import type { Network } from "../network.js";
import type { HeldTransaction } from "../peers/held-transactions.js";
import type { Context } from "../process-context.js";
import { submitRaw } from "../tx/sign-and-submit.js";
import type { Batch } from "../update/batch.js";

/**
 * The maximum number of one other node's transactions that are submitted in a turn. One that is never mined is
 * submitted again in every turn.
 */
const MAX_SUBMITTED = 4;

/**
 * Gives other nodes' unmined transactions to this node's RPC endpoints, which may not have them: up to MAX_SUBMITTED
 * from each node of a better rank, and from the sender of the one that updates this batch. A transaction that only its
 * sender's endpoints have holds up all later ones of that sender.
 *
 * @param better The submitters of the nodes of better ranks.
 * @param lost Receives the transactions whose senders had others mined in their place. Those that it has are ignored.
 * @returns The one that updates this batch; null when none was shared, or the endpoints refuse it.
 */
export async function rebroadcastForOtherNodes(
  context: Context,
  { network, dataset, keys, round }: Batch,
  better: readonly Address[],
  lost: Map<Hex, Address>,
): Promise<HeldTransaction | null> {
  const { client, transactions } = network;
  const find = () => transactions.find(dataset.address, keys, round, lost);
  let shared = find();
  while (shared !== null && (await minedNonces(client, shared.sender)) > shared.nonce) {
    lost.set(shared.hash, shared.sender);
    shared = find();
  }
  const accepted = new Set<Hex>();
  const senders = new Set(shared === null ? better : [...better, shared.sender]);
  for (const sender of senders) {
    const held = transactions.by(sender);
    const mined = held.length === 0 ? 0 : await minedNonces(client, sender);
    for (const one of held.filter(({ nonce }) => nonce >= mined).slice(0, MAX_SUBMITTED)) {
      if (await submit(context, network, one)) accepted.add(one.hash);
    }
  }
  return shared !== null && accepted.has(shared.hash) ? shared : null;
}

/** Returns how many transactions of a sender are mined; 0 when the chain cannot be read. */
export function minedNonces(client: ChainClient, sender: Address): Promise<number> {
  return readNonce(client, sender, "latest").catch(() => 0);
}

/** @returns False when the RPC endpoints refuse it. */
async function submit(
  { metrics, logger }: Context,
  { chainId, client }: Network,
  { raw, hash, nonce }: HeldTransaction,
): Promise<boolean> {
  metrics.submittedForOthers.inc({ network: chainId });
  const { kind } = await submitRaw(client, raw, hash);
  const fields = { network: chainId, transaction: hash, nonce, result: kind };
  logger.info(fields, "another node's transaction submitted");
  return kind !== "rejected";
}
