import { setTimeout as delay } from "node:timers/promises";
import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { readBlockIntervalMs } from "../chain/block-interval.js";
import { readManyStored } from "../chain/stored.js";
import { roundAt } from "../clock.js";
import { type Batch, dataPointOf } from "../data-point.js";
import type { DatasetFeeds, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { MAX_WAIT_MS, type Relayed, withTimeout } from "../update/relay.js";
import { relayBatch } from "./batch.js";
import { Failover } from "./failover.js";
import { isWorthSplitting, scopeOf } from "./failure.js";
import { FeedHealth, type Part } from "./health.js";
import { UpdateLatency } from "./latency.js";
import { dueAge, type Feed, hasMoved, observe, stage } from "./policy.js";

/** A feed with its stored value. */
interface StoredFeed extends Feed {
  readonly stored: QueryResult;
}

/** A batch of this many keys, signed by four providers, uses about five million units of gas. */
const MAX_BATCH_KEYS = 100;
/** A chain on which nothing happens can have minutes between its blocks; an update makes one. */
const MAX_BLOCK_MS = 15_000;
/** Rounds are whole seconds, and a poll takes a moment. */
const POLL_MS = 1_000;

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
  readonly #health: FeedHealth;
  readonly #latency: UpdateLatency;
  #blockMs = MAX_BLOCK_MS;
  readonly #log: Logger;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly datasetFeeds: DatasetFeeds,
  ) {
    const { address } = datasetFeeds.dataset;
    this.#failover = new Failover(address, network.nodes, network.settings.stageMs);
    this.#log = operator.logger.child({ network: network.chainId, dataset: address });
    this.#health = new FeedHealth(operator.clock, this.#log);
    this.#latency = new UpdateLatency(network.settings.providerTimeoutMs);
  }

  async run(): Promise<void> {
    const { client, settings } = this.network;
    const { closing } = this.operator;
    const heartbeats = this.datasetFeeds.feeds.map(({ policy }) => policy.heartbeatSeconds);
    // A feed that was just updated is seen again before it is due.
    const pollMs = Math.min(settings.feedPollMs, Math.min(...heartbeats) * 250);
    const blockMs = await readBlockIntervalMs(client).catch(() => MAX_BLOCK_MS);
    this.#blockMs = Math.min(blockMs, MAX_BLOCK_MS);
    while (!closing.aborted) {
      const nextDueMs = await this.#poll().catch((error: unknown) => {
        this.#health.failed("chain", error);
        return pollMs;
      });
      await delay(Math.min(pollMs, nextDueMs), undefined, { signal: closing }).catch(() => {});
    }
  }

  /**
   * Starts the updates that are due, and does not wait until they are mined.
   *
   * @returns How long it is until another feed is due, in milliseconds.
   */
  async #poll(): Promise<number> {
    const { clock } = this.operator;
    const feeds = await this.#readStored();
    this.#health.worked("chain");
    if (!this.#health.isDue("committee") || !this.#health.isDue("sending")) return Number.POSITIVE_INFINITY;
    const now = clock();
    const lead = this.#leadSeconds;
    const at = (wanted: ReturnType<typeof stage>) =>
      feeds.filter(({ policy, stored }) => stage(policy, stored, now / 1000, lead) === wanted);
    const due = at("due");
    // The providers are asked for the values of the others only after these were started.
    const started = this.#start(due.filter(({ key }) => this.#failover.rankOf(key) === 0));
    if (!started.isProbe) {
      const moved = await this.#moved(at("look"), roundAt(now));
      const owned = this.#failover.own([...due, ...moved], now).filter(({ key }) => !this.#busy.has(key));
      const { isProbe, feeds } = this.#start(owned);
      if (!isProbe) this.#reportFailover(feeds.filter(({ key }) => this.#failover.rankOf(key) > 0));
    }
    const dueAt = feeds.map(({ policy, stored }) => (Number(stored.updatedAt) + dueAge(policy, lead)) * 1000);
    return Math.max(0, Math.min(...dueAt.filter((ms) => ms > now)) - clock());
  }

  /** How long before a heartbeat an update has to be started: as long as one took lately, plus a block. */
  get #leadSeconds(): number {
    return (this.#latency.longestMs + this.#blockMs + POLL_MS) / 1000;
  }

  /**
   * Starts updates. While the committee or the sender is failing it starts only one, a probe.
   *
   * @returns The feeds whose update was started.
   */
  #start(due: readonly StoredFeed[]): { readonly isProbe: boolean; readonly feeds: readonly StoredFeed[] } {
    const { operator, network } = this;
    const { dataset } = this.datasetFeeds;
    const round = roundAt(operator.clock());
    // A batch skips keys that were never stored, a key that a request is updating needs no second transaction, and one
    // that failed by itself would spoil the batch.
    const isBatched = ({ key, stored }: StoredFeed) =>
      stored.updatedAt > 0n &&
      !this.#health.isFailing(key) &&
      !operator.updates.isRelaying(dataPointOf(network, dataset, key), round);
    const single = due.filter((feed) => !isBatched(feed) && this.#health.isDue(feed.key));
    const attempts = [...chunks(due.filter(isBatched)), ...single.map((feed) => [feed])];
    const isProbing = this.#health.isFailing("committee") || this.#health.isFailing("sending");
    const started = isProbing ? attempts.slice(0, 1) : attempts;
    for (const feeds of started) this.#update(feeds, round);
    return { isProbe: isProbing && started.length > 0, feeds: started.flat() };
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
    this.#log.warn({ keys: feeds.map(({ key }) => key) }, "feed: the node of a better rank did not update it");
    this.operator.metrics.failedOver(this.network.chainId, feeds.length);
  }

  /** Returns the feeds whose value has moved by their deviation threshold. */
  async #moved(feeds: readonly StoredFeed[], round: bigint): Promise<readonly StoredFeed[]> {
    if (!this.#health.isDue("rows")) return [];
    const healthy = feeds.filter(({ key }) => !this.#health.isFailing(key));
    const moved = await Promise.all(chunks(healthy).map((chunk) => this.#movedIn(chunk, round)));
    return moved.flat();
  }

  async #movedIn(feeds: readonly StoredFeed[], round: bigint): Promise<readonly StoredFeed[]> {
    const { dataset } = this.datasetFeeds;
    const members = dataset.committee.current.members.length;
    try {
      const rows = await this.operator.builder.rowsOf(this.#batch(feeds, round));
      this.#worked("committee", "rows");
      return feeds.filter(({ policy, stored }, index) => {
        const observed = observe(dataset.kind, members, rows, index);
        return observed !== null && hasMoved(policy, dataset.kind, stored, observed);
      });
    } catch (error) {
      await this.#failed("rows", error);
      return [];
    }
  }

  /** Updates feeds in one transaction, and each that the batch did not store in its own. */
  #update(feeds: readonly StoredFeed[], round: bigint): void {
    const { network, operator } = this;
    const { dataset } = this.datasetFeeds;
    const startedAt = operator.clock();
    const batched = feeds.length > 1 ? this.#relayBatch(this.#batch(feeds, round)) : null;
    for (const { key } of feeds) {
      this.#busy.add(key);
      const dataPoint = dataPointOf(network, dataset, key);
      const outcome = batched?.then((stored) => stored.get(key) ?? null);
      // A request that began to relay the same round in the meantime does not wait for the batch.
      outcome?.catch(() => {});
      operator.updates
        .relayFeed(dataPoint, round, outcome)
        .then(async ({ confirmed }) => {
          this.#worked("committee", "sending", key);
          const mined = await withTimeout(confirmed, MAX_WAIT_MS);
          if (mined !== null) this.#latency.record(operator.clock() - startedAt);
        })
        .catch((error: unknown) => this.#failed(key, error))
        .finally(() => this.#busy.delete(key));
    }
  }

  /**
   * Relays a batch.
   *
   * @returns The keys that it stored. Each other key is to be sent by itself.
   * @throws The batch's error when its keys would fail by themselves too.
   */
  async #relayBatch(batch: Batch): Promise<ReadonlyMap<Hex, Relayed>> {
    try {
      const startedAt = this.operator.clock();
      const stored = await relayBatch(this.operator, this.operator.builder, batch);
      if (stored.size > 0) this.#latency.record(this.operator.clock() - startedAt);
      this.#worked("batches");
      return stored;
    } catch (error) {
      if (!isWorthSplitting(error)) throw error;
      this.#health.failed("batches", error);
      return new Map();
    }
  }

  #worked(...parts: readonly Part[]): void {
    for (const part of parts) this.#health.worked(part);
  }

  /** @param part What failed if nothing else did. */
  async #failed(part: Part, error: unknown): Promise<void> {
    if (this.operator.closing.aborted) return;
    const scope = scopeOf(error);
    this.#health.failed(scope === "update" ? part : scope, error);
    if (scope !== "committee") return;
    const { committee } = this.datasetFeeds.dataset;
    // A committee that was replaced may never answer again. If the RPC fails here, the next failure looks again.
    await committee.hasReplaced(committee.current).catch(() => false);
  }

  #batch(feeds: readonly StoredFeed[], round: bigint): Batch {
    return { network: this.network, dataset: this.datasetFeeds.dataset, keys: feeds.map(({ key }) => key), round };
  }
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / MAX_BATCH_KEYS);
  return Array.from({ length: count }, (_, i) => all.slice(i * MAX_BATCH_KEYS, (i + 1) * MAX_BATCH_KEYS));
}
