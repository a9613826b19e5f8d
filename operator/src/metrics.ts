import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { formatEther, type Hex } from "viem";
import type { Network } from "./network.js";
import type { Clock } from "./process-context.js";
import type { SenderBalances } from "./sender-balances.js";

/** The operator's own Prometheus metrics. Keys of anonymous requests never become labels. */
export class Metrics {
  readonly providerRequests: Histogram<"network" | "provider" | "outcome">;
  /** A node is named by the address of its provider. */
  readonly nodeRequests: Histogram<"network" | "node" | "outcome">;
  readonly coalesced: Counter<"work">;
  readonly rpcErrors: Counter<"network" | "endpoint" | "method" | "class">;
  readonly failedOver: Counter<"network">;
  readonly submittedForOthers: Counter<"network">;
  /** The stored round of each feed, in seconds since 1970; by network, dataset and key. */
  readonly #feeds = new Map<string, { readonly labels: FeedLabels; readonly updatedAt: number }>();

  constructor(private readonly registry: Registry) {
    const registers = [registry];
    this.providerRequests = new Histogram({
      name: "operator_provider_request_duration_seconds",
      help: "Duration of provider requests, by outcome: ok, or the reason why the answer was not used.",
      labelNames: ["network", "provider", "outcome"],
      registers,
    });
    this.nodeRequests = new Histogram({
      name: "operator_node_request_duration_seconds",
      help: "Duration of requests that were forwarded to other nodes, by outcome: ok, refused, or why there was no answer.",
      labelNames: ["network", "node", "outcome"],
      registers,
    });
    this.coalesced = new Counter({
      name: "operator_coalesced_total",
      help: "Work that was shared instead of repeated, by kind.",
      labelNames: ["work"],
      registers,
    });
    this.rpcErrors = new Counter({
      name: "operator_rpc_errors_total",
      help: "Failed RPC calls, by class: timeout, failed, or refused if the node answered with an error.",
      labelNames: ["network", "endpoint", "method", "class"],
      registers,
    });
    this.failedOver = new Counter({
      name: "operator_failover_updates_total",
      help: "Feed updates that this node sent because a node of a better rank did not.",
      labelNames: ["network"],
      registers,
    });
    this.submittedForOthers = new Counter({
      name: "operator_submitted_for_others_total",
      help: "Transactions of other nodes that this node gave to its RPC endpoints.",
      labelNames: ["network"],
      registers,
    });
  }

  /** @param updatedAt Seconds since 1970; 0 if it was never stored. */
  feedSeen(network: number, dataset: string, key: Hex, updatedAt: bigint): void {
    if (updatedAt === 0n) return;
    this.#feeds.set(`${network} ${dataset} ${key}`, {
      labels: { network, dataset, key },
      updatedAt: Number(updatedAt),
    });
  }

  /** Adds the metrics that are read from the networks and feeds at every scrape. */
  watch(networks: readonly Network[], balances: SenderBalances, clock: Clock): void {
    const registers = [this.registry];
    const feeds = this.#feeds;
    const queues = networks.flatMap(({ chainId, queues }) =>
      queues.map((queue) => ({ queue, labels: { network: chainId, sender: queue.address } })),
    );
    new Gauge({
      name: "operator_feed_age_seconds",
      help: "Age of the stored value of each feed.",
      labelNames: ["network", "dataset", "key"],
      registers,
      collect() {
        for (const { labels, updatedAt } of feeds.values()) this.set(labels, clock() / 1000 - updatedAt);
      },
    });
    new Gauge({
      name: "operator_queue_transactions",
      help: "Updates waiting for a nonce and pending transactions, by sender.",
      labelNames: ["network", "sender", "state"],
      registers,
      collect() {
        for (const { queue, labels } of queues) {
          for (const [state, count] of Object.entries(queue.depth)) this.set({ ...labels, state }, count);
        }
      },
    });
    new Gauge({
      name: "operator_queue_repairs",
      help: "Repairs by a sender's transaction queue since the start: replaced, cancelled, rebroadcast, reorged, lost.",
      labelNames: ["network", "sender", "kind"],
      registers,
      collect() {
        for (const { queue, labels } of queues) {
          for (const [kind, count] of Object.entries(queue.counts)) this.set({ ...labels, kind }, count);
        }
      },
    });
    new Gauge({
      name: "operator_sender_balance_ether",
      help: "Balance of each sender; absent while it cannot be read.",
      labelNames: ["network", "sender"],
      registers,
      async collect() {
        this.reset();
        for (const { network, sender, wei } of await balances.read()) {
          if (wei !== null) this.set({ network: network.chainId, sender }, Number(formatEther(wei)));
        }
      },
    });
    new Gauge({
      name: "operator_network_ready",
      help: "1 if an RPC endpoint of the network can be used, else 0.",
      labelNames: ["network"],
      registers,
      collect() {
        for (const { chainId, client } of networks) this.set({ network: chainId }, client.isReady() ? 1 : 0);
      },
    });
  }
}

interface FeedLabels {
  readonly network: number;
  readonly dataset: string;
  readonly key: string;
}
