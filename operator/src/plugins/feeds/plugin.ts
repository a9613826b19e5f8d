import type { App } from "@dataset-oracle/service/http-server/app";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge } from "prom-client";
import type { Address, Hex } from "viem";
import { FeedLoop, type FeedLoopSettings, type FeedMetrics } from "./feed-loop.js";
import type { Feed } from "./settings.js";

/** What the plugin has to know of a network. */
export interface FeedsPlan {
  readonly deployment: { readonly chainId: number };
  readonly settings: FeedLoopSettings;
  /** By dataset; all keys distinct. */
  readonly feeds: ReadonlyMap<Address, readonly Feed[]>;
}

/** Keeps the configured keys fresh, by the same path as requests, from the start of the service to its end. */
export async function feeds(
  scope: FastifyInstance,
  { plans }: { readonly plans: readonly FeedsPlan[] },
): Promise<void> {
  const app = scope as unknown as App;
  const { context, networks } = app.operator;
  const metrics = addMetrics(app);
  const loops = plans.flatMap(({ deployment, settings, feeds }) =>
    [...feeds].flatMap(([address, own]) => {
      const network = networks.get(deployment.chainId);
      const served = network?.datasets.get(address);
      if (network === undefined || served === undefined) return [];
      for (const { key, policy } of own) served.dataset.keys.add(key, policy);
      // An operator without an account sends nothing.
      return network.senders.canSend ? [new FeedLoop(served, own, network.standing, settings, context, metrics)] : [];
    }),
  );
  let running: Promise<unknown> = Promise.resolve();
  app.addHook("onReady", async () => {
    running = Promise.all(loops.map((loop) => loop.run()));
  });
  app.addHook("onClose", () => running);
}

function addMetrics(app: App): FeedMetrics {
  const { clock, registry } = app.operator.context;
  const registers = [registry];
  /** The stored round of each feed, in seconds since 1970. */
  const stored = new Map<string, { labels: Record<"network" | "dataset" | "key", string | number>; round: number }>();
  new Gauge({
    name: "operator_feed_age_seconds",
    help: "Age of the stored value of each feed.",
    labelNames: ["network", "dataset", "key"],
    registers,
    collect() {
      for (const { labels, round } of stored.values()) this.set(labels, clock() / 1000 - round);
    },
  });
  const failovers = new Counter({
    name: "operator_failover_updates_total",
    help: "Feed updates that this operator sent because a member of a better rank did not.",
    labelNames: ["network"],
    registers,
  });
  return {
    seen: (network: number, dataset: Address, key: Hex, round: bigint) => {
      if (round === 0n) return;
      stored.set(`${network} ${dataset} ${key}`, { labels: { network, dataset, key }, round: Number(round) });
    },
    failedOver: (network, count) => failovers.inc({ network }, count),
  };
}
