import { SharedTransaction } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Address, Hex } from "viem";
import type { Dataset, Network } from "../network.js";
import type { GuardedHttp } from "./guarded-http.js";
import type { HeldTransactions } from "./held-transactions.js";
import { readNodeAnswer } from "./node-answer.js";
import { type Node, type Nodes, othersOf } from "./node-list.js";

/** The path, below the base URL, at which a node takes other nodes' signed transactions and shows those it holds. */
export const TRANSACTIONS_PATH = "/transactions";

const DEADLINE_MS = 2_000;
const MAX_ANSWER_BYTES = 16 * 1024;
/** A node that asks is about to send, so it waits only as long as a nearby node takes to answer. */
const FETCH_DEADLINE_MS = 500;
/** Room for two batches of 100 keys that 60 members have signed. */
const MAX_FETCHED_BYTES = 1024 * 1024;
/** Each transaction costs the RPC endpoints several requests, so only this many of one node's answer are looked at. */
const MAX_FETCHED = 2;

const answer = TypeCompiler.Compile(Type.Array(SharedTransaction));

/** Shares signed transactions with the other nodes of a network. */
export class TransactionSharing {
  constructor(
    private readonly chainId: number,
    private readonly nodes: Nodes,
    private readonly transactions: HeldTransactions,
    private readonly http: GuardedHttp,
  ) {}

  /**
   * Gives a signed transaction of this node to the others. Nobody waits for them: one that does not get it will see it
   * on chain.
   */
  share(raw: Hex): void {
    const { all, own } = this.nodes;
    // Others take no transactions from a volunteer.
    if (own === null) return;
    this.transactions.addOwn(raw);
    const body = JSON.stringify({ network_id: this.chainId, raw } satisfies SharedTransaction);
    const limits = { timeoutMs: DEADLINE_MS, maxBytes: MAX_ANSWER_BYTES };
    for (const node of all) {
      if (node !== own) void this.http.post(node.url, TRANSACTIONS_PATH, {}, body, limits);
    }
  }

  /**
   * Asks other nodes for transactions that update a key, because this one may have been cut off when they were shared. It
   * holds those that the chain would accept, and never throws.
   *
   * @param round The oldest round that will do, in seconds since 1970.
   * @param providers Those whose nodes are asked.
   */
  async fetch(
    network: Network,
    dataset: Dataset,
    key: Hex,
    round: bigint,
    providers: ReadonlySet<Address>,
  ): Promise<void> {
    const query = `network_id=${network.chainId}&dataset=${dataset.address}&round=${round}&key=${key}`;
    const asked = othersOf(this.nodes).filter(({ provider }) => providers.has(provider));
    await Promise.all(asked.map((node) => this.#ask(node, network, query).catch(() => {})));
  }

  async #ask({ url }: Node, network: Network, query: string): Promise<void> {
    const limits = { timeoutMs: FETCH_DEADLINE_MS, maxBytes: MAX_FETCHED_BYTES };
    const got = await this.http.get(url, `${TRANSACTIONS_PATH}?${query}`, limits);
    for (const { raw } of (readNodeAnswer(answer, got) ?? []).slice(0, MAX_FETCHED)) {
      const shared = this.transactions.read(network, raw as Hex);
      if (!shared.ok || this.transactions.isHeld(shared.value)) continue;
      await this.transactions.hold(network, shared.value);
    }
  }
}
