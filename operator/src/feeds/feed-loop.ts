import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { MAX_BLOCK_INTERVAL_MS, readBlockIntervalMs } from "../chain/read-blocks.js";
import { readManyStored } from "../chain/stored-values.js";
import { dataPointOf } from "../data-point.js";
import { type Dataset, datasetsWithFeeds, type Network } from "../network.js";
import { nullAfterTimeout } from "../null-after-timeout.js";
import type { Operator } from "../operator.js";
import { roundAt, roundStartMs } from "../round-time.js";
import { agreedValueInBatch } from "../update/agreed-value-in-batch.js";
import type { Batch } from "../update/batch.js";
import type { SentUpdate } from "../update/sent-update.js";
import { MAX_MINING_WAIT_MS } from "../update/wait-until-mined.js";
import { type Dependency, FailureBackoff } from "./failure-backoff.js";
import { failureScopeOf, isWorthSplitting } from "./failure-scope.js";
import type { StoredFeed } from "./feed.js";
import { FeedTurns } from "./feed-turns.js";
import { sendBatch } from "./send-batch.js";
import { beatAt, msUntilNextBeat } from "./turn-schedule.js";
import { dueAge, hasMoved, updateNeed } from "./update-policy.js";

/** Allowance for the duration of a poll and for rounding to whole seconds. */
const LEAD_MARGIN_MS = 1_000;
/** What nodes allow for gathering the reports and seeing the block, in seconds. */
const SPARE_SECONDS = 2;
/**
 * Update times differ mostly by whether the transaction just misses or just catches a block, so a few dozen of them
 * include a long one.
 */
const REMEMBERED = 32;

/** Keeps all feeds fresh until the operator shuts down. It never throws. */
export async function runFeeds(operator: Operator): Promise<void> {
  const networks = [...operator.networks.values()].filter(({ queues }) => queues.length > 0);
  await Promise.all(
    networks.flatMap((network) => {
      return datasetsWithFeeds(network).map((dataset) => new FeedLoop(operator, network, dataset).run());
    }),
  );
}

/** Keeps the feeds of one dataset fresh, by the same path as requests. */
class FeedLoop {
  /** The keys whose update is on its way. */
  readonly #busy = new Set<Hex>();
  readonly #turns: FeedTurns;
  readonly #backoff: FailureBackoff;
  /** How long the latest updates took, from the decision to update until their transaction was seen mined. */
  readonly #latestMs: number[] = [];
  #blockMs = MAX_BLOCK_INTERVAL_MS;
  readonly #log: Logger;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly dataset: Dataset,
  ) {
    this.#turns = new FeedTurns(operator, network, dataset);
    this.#log = operator.logger.child({ network: network.chainId, dataset: dataset.address });
    this.#backoff = new FailureBackoff(operator.clock, this.#log);
  }

  async run(): Promise<void> {
    const { client, settings } = this.network;
    const { clock, closing } = this.operator;
    const heartbeats = this.dataset.feeds.map(({ policy }) => policy.heartbeatSeconds);
    // At most a quarter of the shortest heartbeat, so that a feed that was just updated is read again before it is due.
    const pollMs = Math.min(settings.feedPollMs, Math.min(...heartbeats) * 250);
    this.#blockMs = await readBlockIntervalMs(client).catch(() => MAX_BLOCK_INTERVAL_MS);
    const wait = (ms: number) => delay(ms, undefined, { signal: closing }).catch(() => {});
    while (!closing.aborted) {
      // Nodes look at the beginning of every beat, so that all of them see the same need at the same time.
      // A timer can end a moment before the clock says so.
      if (!this.#turns.isAlone) await wait(msUntilNextBeat(clock(), settings.beatSeconds) + 1);
      const nextDueMs = await this.#poll().catch((error: unknown) => {
        this.#backoff.failed("chain", error);
        return pollMs;
      });
      if (this.#turns.isAlone) await wait(Math.min(pollMs, nextDueMs));
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
    this.#backoff.worked("chain");
    if (!this.#backoff.isDue("committee") || !this.#backoff.isDue("sending")) return Number.POSITIVE_INFINITY;
    const now = clock();
    const lead = this.#leadSeconds;
    const round = this.#turns.isAlone ? roundAt(now) : beatAt(now, this.network.settings.beatSeconds);
    // Nodes take the time at which the beat began, which is the same for all of them.
    const seenAt = this.#turns.isAlone ? now : roundStartMs(round);
    const withNeed = (need: ReturnType<typeof updateNeed>) =>
      feeds.filter(({ policy, stored }) => updateNeed(policy, stored, seenAt / 1000, lead) === need);
    if (this.#turns.isAlone) {
      // The providers are asked for the values of the others only after these were started.
      const isProbe = this.#start(withNeed("due"), round);
      if (!isProbe) this.#start(await this.#moved(withNeed("if_moved"), round), roundAt(clock()));
    } else {
      // All that a beat needs goes into one transaction.
      this.#start([...withNeed("due"), ...(await this.#moved(withNeed("if_moved"), round))], round);
    }
    const dueAt = feeds.map(({ policy, stored }) => (Number(stored.updatedAt) + dueAge(policy, lead)) * 1000);
    return Math.max(0, Math.min(...dueAt.filter((ms) => ms > now)) - clock());
  }

  /**
   * How long before its heartbeat ends a feed's update has to start. All nodes have to find a feed due at the same beat, so
   * for them this depends on nothing that only one of them knows. For an operator on its own it is as long as the longest of
   * its latest updates took, plus a block and a second.
   */
  get #leadSeconds(): number {
    const { beatSeconds, providerTimeoutMs } = this.network.settings;
    if (!this.#turns.isAlone) return beatSeconds + Math.round(this.#blockMs / 1000) + SPARE_SECONDS;
    const longestMs = this.#latestMs.length === 0 ? providerTimeoutMs : Math.max(...this.#latestMs);
    return (longestMs + this.#blockMs + LEAD_MARGIN_MS) / 1000;
  }

  /** Remembers how long an update took that has been mined. */
  #recordLatency(startedAt: number): void {
    this.#latestMs.push(this.operator.clock() - startedAt);
    if (this.#latestMs.length > REMEMBERED) this.#latestMs.shift();
  }

  /**
   * Starts updates. While the committee or the sender is failing it starts only one, a probe.
   *
   * @returns True if it started a probe.
   */
  #start(needed: readonly StoredFeed[], round: bigint): boolean {
    const { operator, network, dataset } = this;
    const idle = needed.filter(({ key }) => !this.#busy.has(key));
    // A batch skips keys that were never stored, a key that a request is updating needs no second transaction, and one
    // that failed by itself would spoil the batch.
    const isBatched = ({ key, stored }: StoredFeed) =>
      stored.updatedAt > 0n &&
      !this.#backoff.isFailing(key) &&
      !operator.updates.isOnItsWay(dataPointOf(network, dataset, key), round);
    const single = idle.filter((feed) => !isBatched(feed) && this.#backoff.isDue(feed.key));
    const attempts = [
      ...this.#turns.chunks.chunksOf(idle.filter(isBatched)),
      ...this.#turns.chunks.singlesToStart(single).map((feed) => [feed]),
    ];
    const isProbing = this.#backoff.isFailing("committee") || this.#backoff.isFailing("sending");
    const started = isProbing ? attempts.slice(0, 1) : attempts;
    for (const feeds of started) {
      if (this.#turns.isAlone) this.#update(feeds, round);
      else void this.#updateInTurn(feeds, round);
    }
    return isProbing && started.length > 0;
  }

  async #readStored(): Promise<readonly StoredFeed[]> {
    const { operator, network, dataset } = this;
    const idle = dataset.feeds.filter(({ key }) => !this.#busy.has(key));
    const keys = idle.map(({ key }) => key);
    // A node does not rely on another's pending transaction, which may never be mined: it looks for one when its turn comes.
    const blockTag = this.#turns.isAlone ? "pending" : "latest";
    const points = await readManyStored(network.client, dataset.address, keys, blockTag);
    return idle.flatMap((feed, index) => {
      const stored = points[index];
      if (stored === undefined) return [];
      operator.metrics.feedSeen(network.chainId, dataset.address, feed.key, stored.updatedAt);
      return [{ ...feed, stored }];
    });
  }

  /** Returns the feeds whose value has moved by their deviation threshold. */
  async #moved(feeds: readonly StoredFeed[], round: bigint): Promise<readonly StoredFeed[]> {
    if (!this.#backoff.isDue("rows")) return [];
    const working = feeds.filter(({ key }) => !this.#backoff.isFailing(key));
    const moved = await Promise.all(this.#turns.chunks.chunksOf(working).map((chunk) => this.#movedIn(chunk, round)));
    return moved.flat();
  }

  async #movedIn(feeds: readonly StoredFeed[], round: bigint): Promise<readonly StoredFeed[]> {
    const { dataset } = this;
    const members = dataset.committee.current.members.length;
    try {
      const rows = await this.operator.builder.rowsOf(this.#batch(feeds, round));
      this.#backoff.worked("committee", "rows");
      return feeds.filter(({ policy, stored }, index) => {
        const observed = agreedValueInBatch(dataset.kind, members, rows, index);
        return observed !== null && hasMoved(policy, dataset.kind, stored, observed);
      });
    } catch (error) {
      await this.#failed("rows", error);
      return [];
    }
  }

  /** Updates feeds when this node's turn comes, unless another node did by then. */
  async #updateInTurn(feeds: readonly StoredFeed[], round: bigint): Promise<void> {
    for (const { key } of feeds) this.#busy.add(key);
    const release = () => {
      for (const { key } of feeds) this.#busy.delete(key);
    };
    try {
      const { feeds: own, rank } = await this.#turns.take(feeds, round, this.#blockMs);
      if (rank > 0 && own.length > 0) {
        this.#log.warn(
          { keys: own.map(({ key }) => key), rank },
          "feed: the nodes of better ranks did not update these keys",
        );
        this.operator.metrics.failedOver.inc({ network: this.network.chainId }, own.length);
      }
      // Only here, so that nothing else updates these before `#update` marks its own as busy.
      release();
      this.#backoff.worked("committee");
      this.#update(own, round);
    } catch (error) {
      release();
      if (feeds.length === 1 || !isWorthSplitting(error)) {
        for (const { key } of feeds) await this.#failed(key, error);
        return;
      }
      this.#backoff.failed("batches", error);
      for (const feed of feeds) void this.#updateInTurn([feed], round);
    }
  }

  /** Updates feeds in one transaction, then each feed that the batch did not store in a transaction of its own. */
  #update(feeds: readonly StoredFeed[], round: bigint): void {
    const { network, operator, dataset } = this;
    const startedAt = operator.clock();
    const batched = feeds.length > 1 ? this.#sendBatch(this.#batch(feeds, round)) : null;
    for (const { key } of feeds) {
      this.#busy.add(key);
      const dataPoint = dataPointOf(network, dataset, key);
      const outcome = batched?.then((stored) => stored.get(key) ?? null);
      // Nobody awaits this if a request has begun to send the same round in the meantime.
      outcome?.catch(() => {});
      operator.updates
        .sendForFeed(dataPoint, round, outcome)
        .then(async ({ mined: untilMined }) => {
          this.#backoff.worked("committee", "sending", key);
          const mined = await nullAfterTimeout(untilMined, MAX_MINING_WAIT_MS);
          if (mined !== null) this.#recordLatency(startedAt);
        })
        .catch((error: unknown) => this.#failed(key, error))
        .finally(() => this.#busy.delete(key));
    }
  }

  /**
   * Sends a batch.
   *
   * @returns The keys that it stored. Each other key is to be sent by itself.
   * @throws The batch's error when its keys would fail by themselves too.
   */
  async #sendBatch(batch: Batch): Promise<ReadonlyMap<Hex, SentUpdate>> {
    try {
      const startedAt = this.operator.clock();
      const stored = await sendBatch(this.operator, this.operator.builder, batch);
      if (stored.size > 0) this.#recordLatency(startedAt);
      this.#backoff.worked("batches");
      return stored;
    } catch (error) {
      if (!isWorthSplitting(error)) throw error;
      this.#backoff.failed("batches", error);
      return new Map();
    }
  }

  /** @param dependency The dependency that failed, unless the error's scope is a wider one. */
  async #failed(dependency: Dependency, error: unknown): Promise<void> {
    if (this.operator.closing.aborted) return;
    const scope = failureScopeOf(error);
    this.#backoff.failed(scope === "update" ? dependency : scope, error);
    if (scope !== "committee") return;
    const { committee } = this.dataset;
    // A committee that was replaced may never answer again. If the RPC fails here, the next failure looks again.
    await committee.refreshIfReplaced(committee.current).catch(() => false);
  }

  #batch(feeds: readonly StoredFeed[], round: bigint): Batch {
    return { network: this.network, dataset: this.dataset, keys: feeds.map(({ key }) => key), round };
  }
}
