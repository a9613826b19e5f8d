import type { SharedTransaction as SharedTransactionBody } from "@dataset-oracle/protocol/node-wire";
import type { Address, Hex } from "viem";
import type { Gossip, SharedTransaction } from "./gossip.js";
import type { NodeHttp } from "./node-http.js";
import type { Nodes } from "./nodes.js";
import type { SharedTransactions } from "./shared-transactions.js";

/** The path at which a node takes another node's signed transactions. It is below the base URL. */
export const TRANSACTIONS_PATH = "/transactions";

const DEADLINE_MS = 2_000;
const MAX_ANSWER_BYTES = 16 * 1024;

/** The gossip of a network with several nodes. */
export class NodeGossip implements Gossip {
  constructor(
    private readonly chainId: number,
    private readonly nodes: Nodes,
    private readonly transactions: SharedTransactions,
    private readonly http: NodeHttp,
  ) {}

  /** Nobody waits for the other nodes: one that does not get the transaction sees it in the chain. */
  share(raw: Hex): void {
    const { all, own } = this.nodes;
    // Others take no transactions of a volunteer.
    if (own === null) return;
    const body = JSON.stringify({ network_id: this.chainId, raw } satisfies SharedTransactionBody);
    const limits = { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
    for (const node of all) {
      if (node !== own) void this.http.post(node.url, TRANSACTIONS_PATH, {}, body, limits);
    }
  }

  sharedFor(dataset: Address, keys: readonly Hex[], round: bigint): SharedTransaction | null {
    return this.transactions.find(dataset, keys, round);
  }
}
