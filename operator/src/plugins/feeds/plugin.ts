import type { App } from "@dataset-oracle/service/http-server/app";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge } from "prom-client";
import type { Address } from "viem";
import type { ScheduledKey } from "../../schedule/transmission-schedule.js";
import { FeedLoop, type FeedLoopSettings } from "./feed-loop.js";

/** What the plugin has to know of a network. */
export interface FeedsPlan {
  readonly deployment: { readonly chainId: number };
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
  const { context, networks } = app.operator;
  const registers = [context.registry];
  const failovers = new Counter({
    name: "operator_failover_updates_total",
    help: "Feed updates that this operator sent because a member of a better rank did not.",
    labelNames: ["network"],
    registers,
  });
  const loops = plans.flatMap(({ deployment, settings, feeds }) =>
    [...feeds].flatMap(([address, own]) => {
      const network = networks.get(deployment.chainId);
      const served = network?.datasets.get(address);
      if (network === undefined || served === undefined) return [];
      for (const { key, policy } of own) served.dataset.keys.add(key, policy);
      // An operator without an account sends nothing.
      return network.senders.canSend ? [new FeedLoop(served, own, network.standing, settings, context, failovers)] : [];
    }),
  );
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
  let running: Promise<unknown> = Promise.resolve();
  app.addHook("onReady", async () => {
    running = Promise.all(loops.map((loop) => loop.run()));
  });
  app.addHook("onClose", () => running);
}
