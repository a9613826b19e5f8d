import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { App } from "@dataset-oracle/service/http-server/app";
import { scrapedMetrics } from "@dataset-oracle/service/http-server/metrics";
import type { FastifyInstance } from "fastify";
import { Counter } from "prom-client";
import type { Address, Hex } from "viem";
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
  const metrics = {
    failovers: new Counter({
      name: "operator_failover_updates_total",
      help: "Feed updates that this operator sent because a member of a better rank did not.",
      labelNames: ["network"],
      registers,
    }),
    outliers: new Counter({
      name: "operator_feed_outliers_total",
      help: "Values of feeds that a provider signed and that were outside the committee's tolerance.",
      labelNames: ["network", "dataset", "provider"],
      registers,
    }),
  } as const;
  const loops: FeedLoop[] = [];
  const running: Promise<void>[] = [];
  const keepFresh = (network: ServedNetwork, { settings, feeds }: FeedsPlan) => {
    for (const [address, own] of feeds) {
      const served = network.datasets.get(address);
      if (served === undefined) continue;
      for (const { key, policy } of own) served.dataset.keys.add(key, policy);
      // An operator without an account sends nothing.
      if (!network.senders.canSend) continue;
      network.senders.reserveForOwn();
      const loop = new FeedLoop(served, own, network.standing, metrics, context, settings);
      loops.push(loop);
      running.push(loop.run());
    }
  };
  app.operator.eachNetwork((network) => {
    for (const plan of plans) if (plan.chainId === network.chainId) keepFresh(network, plan);
  });
  const add = scrapedMetrics(context.registry);
  const ofFeeds = <T>(read: (loop: FeedLoop) => Iterable<readonly [key: Hex, value: T]>) =>
    loops.flatMap((loop) => {
      const { chainId: network, address: dataset } = loop.served.dataset;
      return [...read(loop)].map(([key, value]) => [{ network, dataset, key: keyToAscii(key) ?? key }, value] as const);
    });
  const labels: ("network" | "dataset" | "key")[] = ["network", "dataset", "key"];
  add("operator_feed_age_seconds", labels, "Age of a feed's stored value; absent before the first.", () =>
    ofFeeds(({ storedRounds }) => storedRounds).flatMap(([feed, round]) =>
      round === 0n ? [] : [[feed, Math.max(0, context.clock.now() / 1000 - Number(round))] as const],
    ),
  );
  add("operator_feed_heartbeat_seconds", labels, "The age that a feed's stored value is to stay below.", () =>
    ofFeeds(({ feeds }) => feeds.map(({ key, policy }) => [key, policy.heartbeatSeconds])),
  );
  app.addHook("onClose", () => Promise.all(running));
}
