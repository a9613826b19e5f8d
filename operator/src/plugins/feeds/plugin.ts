import type { App } from "@dataset-oracle/service/http-server/app";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge } from "prom-client";
import type { Address } from "viem";
import type { ScheduledKey } from "../../schedule/transmission-schedule.js";
import type { ServedNetwork } from "../../served-network.js";
import { FeedLoop, type FeedLoopSettings } from "./feed-loop.js";

/** What the plugin has to know of a network. */
export interface FeedsPlan {
  readonly chainId: number;
  readonly settings: FeedLoopSettings;
  /** By dataset; all keys distinct. */
  readonly feeds: ReadonlyMap<Address, readonly ScheduledKey[]>;
}

/** Keeps the configured keys fresh, by the same path as requests, from the start of the service to its end. */
export async function feeds(
  scope: FastifyInstance,
  { plans }: { readonly plans: readonly FeedsPlan[] },
): Promise<void> {
  const app = scope as unknown as App;
  const { context } = app.operator;
  const registers = [context.registry];
  const failovers = new Counter({
    name: "operator_failover_updates_total",
    help: "Feed updates that this operator sent because a member of a better rank did not.",
    labelNames: ["network"],
    registers,
  });
  const loops: FeedLoop[] = [];
  const running: Promise<void>[] = [];
  const keepFresh = (network: ServedNetwork, { settings, feeds }: FeedsPlan) => {
    for (const [address, own] of feeds) {
      const served = network.datasets.get(address);
      if (served === undefined) continue;
      for (const { key, policy } of own) served.dataset.keys.add(key, policy);
      // An operator without an account sends nothing.
      if (!network.senders.canSend) continue;
      const loop = new FeedLoop(served, own, network.standing, settings, context, failovers);
      loops.push(loop);
      running.push(loop.run());
    }
  };
  app.operator.eachNetwork((network) => {
    for (const plan of plans) if (plan.chainId === network.chainId) keepFresh(network, plan);
  });
  new Gauge({
    name: "operator_feed_age_seconds",
    help: "Age of the stored value of each feed.",
    labelNames: ["network", "dataset", "key"],
    registers,
    collect() {
      for (const { served, storedRounds } of loops) {
        const { chainId: network, address: dataset } = served.dataset;
        for (const [key, round] of storedRounds) {
          const labels = { network, dataset, key };
          if (round > 0n) this.set(labels, context.clock() / 1000 - Number(round));
        }
      }
    },
  });
  app.addHook("onClose", () => Promise.all(running));
}
