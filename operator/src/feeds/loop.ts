import { setTimeout as delay } from "node:timers/promises";
import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { readManyStored } from "../chain/query.js";
import { RpcError } from "../chain/rpc-error.js";
import { roundAt } from "../clock.js";
import { dataPointOf } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { DatasetFeeds, Network } from "../network.js";
import type { Operator } from "../operator.js";
import type { Batch } from "../update/build.js";
import { MAX_WAIT_MS, type Relayed, withTimeout } from "../update/relay.js";
import { relayBatch } from "./batch.js";
import { Failover } from "./failover.js";
import { type Feed, hasMoved, observe, stage } from "./policy.js";

/** A feed with its stored value. */
interface StoredFeed extends Feed {
  readonly stored: QueryResult;
}

/** A batch of this many keys, signed by four providers, uses about five million units of gas. */
const MAX_BATCH_KEYS = 100;

/** Keeps all feeds fresh until the operator shuts down. It never throws. */
export async function runFeeds(operator: Operator): Promise<void> {
  const networks = [...operator.networks.values()].filter(({ senders }) => senders !== null);
  await Promise.all(
    networks.flatMap((network) => network.feeds.map((feeds) => new FeedLoop(operator, network, feeds).run())),
  );
}

/** Keeps the feeds of one dataset fresh, by the same path as requests. */
class FeedLoop {
  /** The keys whose update is on its way. */
  readonly #busy = new Set<Hex>();
  readonly #failover: Failover;
  readonly #log: Logger;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly datasetFeeds: DatasetFeeds,
  ) {
    const { address } = datasetFeeds.dataset;
    this.#failover = new Failover(address, network.replicas);
    this.#log = operator.logger.child({ network: network.chainId, dataset: address });
  }

  async run(): Promise<void> {
    const { closing } = this.operator;
    while (!closing.aborted) {
      await this.#poll().catch((error: unknown) => logFailure(this.#log, error));
      await delay(this.network.feedPollMs, undefined, { signal: closing }).catch(() => {});
    }
  }

  /** Starts the updates that are due, and does not wait until they are mined. */
  async #poll(): Promise<void> {
    const { operator, network } = this;
    const { dataset } = this.datasetFeeds;
    const feeds = await this.#readStored();
    const now = operator.clock();
    const round = roundAt(now);
    const at = (wanted: ReturnType<typeof stage>) =>
      feeds.filter(({ policy, stored }) => stage(policy, stored, now / 1000) === wanted);
    const due = this.#failover.own([...at("due"), ...(await this.#moved(at("look"), round))], now);
    this.#reportFailover(due.filter(({ key }) => this.#failover.rankOf(key) > 0));

    // A batch skips keys that were never stored, and a key that a request is updating needs no second transaction.
    const isBatched = ({ key, stored }: StoredFeed) =>
      stored.updatedAt > 0n && !operator.updates.isRelaying(dataPointOf(network, dataset, key), round);
    for (const batch of chunks(due.filter(isBatched))) this.#update(batch, round);
    for (const feed of due.filter((feed) => !isBatched(feed))) this.#update([feed], round);
  }

  async #readStored(): Promise<readonly StoredFeed[]> {
    const { operator, network } = this;
    const { dataset, feeds } = this.datasetFeeds;
    const idle = feeds.filter(({ key }) => !this.#busy.has(key));
    const keys = idle.map(({ key }) => key);
    const points = await readManyStored(network.client, dataset.address, keys, "pending");
    return idle.flatMap((feed, index) => {
      const stored = points[index];
      if (stored === undefined) return [];
      operator.metrics.feedSeen(network.chainId, dataset.address, feed.key, stored.updatedAt);
      return [{ ...feed, stored }];
    });
  }

  #reportFailover(feeds: readonly StoredFeed[]): void {
    if (feeds.length === 0) return;
    this.#log.warn({ keys: feeds.map(({ key }) => key) }, "feed: the replica of a better rank did not update it");
    this.operator.metrics.failedOver(this.network.chainId, feeds.length);
  }

  /** Returns the feeds whose value has moved by their deviation threshold. */
  async #moved(feeds: readonly StoredFeed[], round: bigint): Promise<readonly StoredFeed[]> {
    const { dataset } = this.datasetFeeds;
    const moved = await Promise.all(
      chunks(feeds).map(async (chunk) => {
        const members = dataset.committee.current.members.length;
        const rows = await this.operator.builder.rowsOf(this.#batch(chunk, round));
        return chunk.filter(({ policy, stored }, index) => {
          const observed = observe(dataset.kind, members, rows, index);
          return observed !== null && hasMoved(policy, dataset.kind, stored, observed);
        });
      }),
    );
    return moved.flat();
  }

  /** Updates feeds in one transaction, and each that the batch did not store in its own. */
  #update(feeds: readonly StoredFeed[], round: bigint): void {
    const { network, operator } = this;
    const { dataset } = this.datasetFeeds;
    const batched = feeds.length > 1 ? this.#relayBatch(this.#batch(feeds, round)) : null;
    for (const { key } of feeds) {
      this.#busy.add(key);
      const dataPoint = dataPointOf(network, dataset, key);
      operator.updates
        .relayFeed(
          dataPoint,
          round,
          batched?.then((stored) => stored.get(key) ?? null),
        )
        .then(({ confirmed }) => withTimeout(confirmed, MAX_WAIT_MS))
        .catch((error: unknown) => logFailure(this.#log.child({ key }), error))
        .finally(() => this.#busy.delete(key));
    }
  }

  async #relayBatch(batch: Batch): Promise<ReadonlyMap<Hex, Relayed>> {
    try {
      return await relayBatch(this.operator, this.operator.builder, batch);
    } catch (error) {
      logFailure(this.#log, error);
      return new Map();
    }
  }

  #batch(feeds: readonly StoredFeed[], round: bigint): Batch {
    return { network: this.network, dataset: this.datasetFeeds.dataset, keys: feeds.map(({ key }) => key), round };
  }
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / MAX_BATCH_KEYS);
  return Array.from({ length: count }, (_, i) => all.slice(i * MAX_BATCH_KEYS, (i + 1) * MAX_BATCH_KEYS));
}

function logFailure(log: Logger, error: unknown): void {
  if (error instanceof RpcError) log.warn({ method: error.method, reason: error.reason }, "feed: RPC failed");
  else if (error instanceof FeedGasSpent) log.warn({ retryAfterSeconds: error.retryAfterSeconds }, error.message);
  else if (error instanceof ProblemError) log.warn({ code: error.code, detail: error.detail }, `feed: ${error.title}`);
  else log.error({ err: error }, "feed: update failed");
}
