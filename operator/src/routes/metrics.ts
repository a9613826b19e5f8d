import { Gauge } from "prom-client";
import { formatEther } from "viem";
import type { Operator } from "../operator.js";

/** Adds the metrics that are read from the networks at every scrape. */
export function addNetworkMetrics({ context, networks, clients }: Operator): void {
  const registers = [context.registry];
  const queues = () =>
    [...networks.values()].flatMap(({ chainId, senders }) =>
      senders.queues.map((queue) => ({ queue, labels: { network: chainId, sender: queue.address } })),
    );
  new Gauge({
    name: "operator_queue_transactions",
    help: "Updates waiting for a nonce and pending transactions, by sender.",
    labelNames: ["network", "sender", "state"],
    registers,
    collect() {
      for (const { queue, labels } of queues()) {
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
      for (const { queue, labels } of queues()) {
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
      for (const { chainId, balances } of networks.values()) {
        for (const { sender, wei } of await balances.read()) {
          if (wei !== null) this.set({ network: chainId, sender }, Number(formatEther(wei)));
        }
      }
    },
  });
  new Gauge({
    name: "operator_network_ready",
    help: "1 if an RPC endpoint of the network can be used, else 0.",
    labelNames: ["network"],
    registers,
    collect() {
      for (const [network, client] of clients) this.set({ network }, client.isReady() ? 1 : 0);
    },
  });
}
