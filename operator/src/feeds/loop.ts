/** Ongoing supply: a loop that keeps the configured feeds fresh, by the same path as a request. */

import { setTimeout as delay } from "node:timers/promises";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { readPoint, type StoredPoint } from "../chain/dataset.js";
import { RpcError } from "../chain/rpc-error.js";
import { roundAt } from "../clock.js";
import { dataPointOf, workId } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { DatasetFeeds, Network } from "../network.js";
import type { Operator, Relayed } from "../operator.js";
import { MAX_WAIT_MS } from "../update/relay.js";
import { relayRound } from "../update/request.js";
import { type Batch, rowsOf } from "./batch.js";
import { Failover } from "./failover.js";
import { type Feed, hasMoved, observe, stage } from "./policy.js";
import { relayBatch } from "./relay-batch.js";

/** A feed, and what the chain has of it. */
interface Seen extends Feed {
  readonly stored: StoredPoint;
}

/** With four rows, a batch of so many keys uses about five million units of gas. */
const MAX_BATCH_KEYS = 100;

/** Keeps all feeds fresh until the operator shuts down. It never throws. */
export async function runFeeds(operator: Operator): Promise<void> {
  const networks = [...operator.networks.values()].filter(({ senders }) => senders !== null);
  await Promise.all(
    networks.flatMap((network) => network.feeds.map((ofDataset) => new FeedLoop(operator, network, ofDataset).run())),
  );
}

/** Keeps the feeds of one dataset fresh. */
class FeedLoop {
  /** The keys whose update is on its way. */
  readonly #busy = new Set<Hex>();
  readonly #failover: Failover;
  readonly #log: Logger;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly ofDataset: DatasetFeeds,
  ) {
    this.#failover = new Failover(ofDataset.dataset.address, network.replicas);
    this.#log = operator.logger.child({ network: network.chainId, dataset: ofDataset.dataset.address });
  }

  async run(): Promise<void> {
    const { closing } = this.operator;
    while (!closing.aborted) {
      await this.#look().catch((error: unknown) => logTrouble(this.#log, error));
      await delay(this.network.feedPollMs, undefined, { signal: closing }).catch(() => {});
    }
  }

  /** Looks at every feed, and starts the updates of those that are due. It does not wait for them to be mined. */
  async #look(): Promise<void> {
    const { client } = this.network;
    const { dataset, feeds } = this.ofDataset;
    const idle = feeds.filter(({ key }) => !this.#busy.has(key));
    const seen = await Promise.all(
      idle.map(async (feed) => ({ ...feed, stored: await readPoint(client, dataset.address, feed.key, "pending") })),
    );
    for (const { key, stored } of seen) {
      this.operator.metrics.feedSeen(this.network.chainId, dataset.address, key, stored.updatedAt);
    }
    const now = this.operator.clock();
    const at = (wanted: ReturnType<typeof stage>) =>
      seen.filter(({ policy, stored }) => stage(policy, stored, now / 1000) === wanted);
    const round = roundAt(now);
    const due = this.#failover.own([...at("due"), ...(await this.#moved(at("look"), round))], now);
    const late = due.filter(({ key }) => this.#failover.rankOf(key) > 0);
    if (late.length > 0) this.#failedOver(late);

    // A batch leaves out keys that were never stored; what a request is doing already needs no second transaction.
    const isBatched = ({ key, stored }: Seen) =>
      stored.updatedAt > 0n && !this.operator.broadcasts.has(workId(dataPointOf(this.network, dataset, key), round));
    for (const batch of chunks(due.filter(isBatched))) this.#relay(batch, round);
    for (const feed of due.filter((feed) => !isBatched(feed))) this.#relay([feed], round);
  }

  #failedOver(feeds: readonly Seen[]): void {
    this.#log.warn({ keys: feeds.map(({ key }) => key) }, "feed: the replica that leads it did not update it");
    this.operator.metrics.failedOver(this.network.chainId, feeds.length);
  }

  /** Those whose value is another now by what they are configured for. */
  async #moved(looked: readonly Seen[], round: bigint): Promise<readonly Seen[]> {
    const { dataset } = this.ofDataset;
    const found = await Promise.all(
      chunks(looked).map(async (some) => {
        const members = dataset.committee.current.members.length;
        const rows = await rowsOf(this.operator, this.#batch(some, round));
        return some.filter(({ policy, stored }, place) => {
          const observed = observe(dataset.kind, members, rows, place);
          return observed !== null && hasMoved(policy, dataset.kind, stored, observed);
        });
      }),
    );
    return found.flat();
  }

  #relay(feeds: readonly Seen[], round: bigint): void {
    const { network, operator } = this;
    const { dataset } = this.ofDataset;
    const batch = feeds.length > 1 ? this.#batch(feeds, round) : null;
    const batched = batch === null ? null : relayBatch(operator, batch).catch((error: unknown) => this.#failed(error));
    for (const { key } of feeds) {
      this.#busy.add(key);
      const ofBatch = batched?.then((relayed) => relayed.get(key) ?? null);
      relayRound(operator, dataPointOf(network, dataset, key), round, "feed", { trace: null }, ofBatch)
        .result.then((relayed) => relayed.mined(MAX_WAIT_MS))
        .catch((error: unknown) => logTrouble(this.#log.child({ key }), error))
        .finally(() => this.#busy.delete(key));
    }
  }

  /** Then each of the keys goes by itself. */
  #failed(error: unknown): ReadonlyMap<Hex, Relayed> {
    logTrouble(this.#log, error);
    return new Map();
  }

  #batch(feeds: readonly Seen[], round: bigint): Batch {
    return { network: this.network, dataset: this.ofDataset.dataset, keys: feeds.map(({ key }) => key), round };
  }
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / MAX_BATCH_KEYS);
  return Array.from({ length: count }, (_, i) => all.slice(i * MAX_BATCH_KEYS, (i + 1) * MAX_BATCH_KEYS));
}

function logTrouble(log: Logger, error: unknown): void {
  if (error instanceof RpcError) log.warn({ method: error.method, reason: error.reason }, "feed: RPC failed");
  else if (error instanceof FeedGasSpent) log.warn({ retryAfterSeconds: error.retryAfterSeconds }, error.message);
  else if (error instanceof ProblemError) log.warn({ code: error.code, detail: error.detail }, `feed: ${error.title}`);
  else log.error({ err: error }, "feed: update failed");
}
