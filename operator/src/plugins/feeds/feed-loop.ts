import { agreesWith } from "@dataset-oracle/protocol/agreed-value";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import type { Logger } from "pino";
import type { Counter } from "prom-client";
import type { Hex } from "viem";
import type { StoredCommittee } from "../../dataset/committee.js";
import { chunksOf } from "../../dataset/contract.js";
import { readManyStored } from "../../dataset/stored-values.js";
import { agreedValueInBatch, NoQuorum } from "../../reports/quorum.js";
import { MAX_BLOCK_INTERVAL_MS, readBlockIntervalMs, readBlockNumber } from "../../rpc/blocks.js";
import type { ScheduleSettings } from "../../schedule/cadence.js";
import { LearnedLead } from "../../schedule/learned-lead.js";
import { hasMoved } from "../../schedule/policy.js";
import { Ranking } from "../../schedule/rank.js";
import {
  type Gather,
  type Gathered,
  type GatheredKey,
  type Held,
  INITIAL_STATE,
  type Observed,
  type ScheduledKey,
  type ScheduleState,
  type Send,
  step,
} from "../../schedule/transmission-schedule.js";
import type { NetworkDataset, Standing } from "../../served-network.js";
import { MAX_MINING_WAIT_MS, nullAfterTimeout, type UpdateInFlight } from "../../update/answers.js";
import { Dependency, FailureBackoff, failureScopeOf, isWorthSplitting, SHARED } from "./failure-backoff.js";

export interface FeedLoopSettings {
  readonly feedPollMs: number;
  readonly beatSeconds: number;
  readonly providerTimeoutMs: number;
}

export interface FeedMetrics {
  readonly failovers: Counter<"network">;
  readonly outliers: Counter<"network" | "dataset" | "provider">;
}

/** A batch of this many stored keys is small in a block, under the rules of any EVM: docs/Gas.md has its gas. */
const MAX_BATCH_KEYS = 100;
/** After this time it is looked whether the chain can be read again. */
const UNREADABLE_MS = 1_000;

/** A gathering that has ended, with the rows that a quorum signed: of all of its keys, or of each by itself. */
interface EndedGathering {
  readonly gather: Gather;
  readonly rows: readonly { readonly keys: readonly Hex[]; readonly rows: readonly SignedRow[] }[];
}

/** A key, with what its update needs beside what all of them share. */
interface Feed extends ScheduledKey {
  readonly own: Dependency;
  readonly sender: Dependency;
}

/**
 * Keeps the feeds of one dataset fresh. The schedule decides; this loop reads the chain for it, gathers what it asks for,
 * and broadcasts what it says.
 */
export class FeedLoop {
  readonly #settings: Omit<ScheduleSettings, "ranking">;
  /** The ranking of the latest committee, which remembers its orders from step to step. */
  #ranked: { readonly committee: StoredCommittee; readonly ranking: Ranking };
  readonly #feedOf: ReadonlyMap<Hex, Feed>;
  readonly #rowsOf: (gather: Gather) => Promise<readonly SignedRow[]>;
  #state: ScheduleState = INITIAL_STATE;
  /** The keys that this loop is sending. */
  readonly #sending = new Set<Hex>();
  readonly #backoff: FailureBackoff;
  readonly #log: Logger;
  /** The gatherings that have ended, with the rows that a quorum signed, and no step has used yet. */
  readonly #ended: EndedGathering[] = [];
  /** Ends the present wait. */
  #wake = new AbortController();
  /** The stored values as last read, by key. */
  #stored: ReadonlyMap<Hex, QueryResult> = new Map();
  readonly #lead = new LearnedLead();
  /** Null until it can be read. */
  #blockMs: number | null = null;

  constructor(
    readonly served: NetworkDataset,
    readonly feeds: readonly ScheduledKey[],
    private readonly standing: Standing,
    private readonly metrics: FeedMetrics,
    private readonly context: Pick<Context, "clock" | "random" | "logger" | "closing">,
    private readonly settings: FeedLoopSettings,
  ) {
    const { role, stageMs } = standing;
    const { feedPollMs, beatSeconds } = settings;
    const { dataset, builder, broadcasts } = served;
    const heartbeats = feeds.map(({ policy }) => policy.heartbeatSeconds);
    // At most a quarter of the shortest heartbeat, so that a feed that was just updated is read again before it is due.
    const pollSeconds = Math.ceil(Math.min(feedPollMs / 1000, Math.min(...heartbeats) / 4));
    this.#settings = { role, stageMs, beatSeconds: role === "alone" ? pollSeconds : beatSeconds };
    // Who is alone waits for nobody's turn, and can send the rows that it has gathered.
    this.#rowsOf =
      role === "alone"
        ? ({ keys, round }) => builder.rowsForUpdate(keys, round)
        : ({ keys, round, awaited }) => builder.rowsForTurns(keys, round, awaited);
    this.#ranked = this.#rank(dataset.committee.current);
    const addressOf = (key: Hex) => broadcasts.senders.addressFor(dataset.address, key);
    const senders = new Map(feeds.map(({ key }) => [addressOf(key), Dependency.ofSender(addressOf(key))]));
    this.#feedOf = new Map(
      feeds.map((feed) => {
        const sender = senders.get(addressOf(feed.key)) as Dependency;
        return [feed.key, { ...feed, sender, own: Dependency.ofKey(feed.key) }];
      }),
    );
    this.#log = context.logger.child({ network: dataset.chainId, dataset: dataset.address });
    this.#backoff = new FailureBackoff(context, this.#log);
  }

  /** Runs until the operator shuts down. It never throws. */
  async run(): Promise<void> {
    const { clock, closing } = this.context;
    closing.addEventListener("abort", () => this.#wake.abort());
    for (let wakeAtMs = 0; !closing.aborted; ) {
      if (this.#ended.length === 0) {
        await wait(Math.max(0, Math.ceil(wakeAtMs - clock.monotonic())), this.#wake.signal);
        if (closing.aborted) return;
      }
      wakeAtMs = await this.look();
    }
  }

  /**
   * Looks at the chain, and takes a step of the schedule for each gathering that has ended. It never throws.
   *
   * @returns When to look again if no gathering ends before, by the monotonic clock.
   */
  async look(): Promise<number> {
    this.#wake = new AbortController();
    const chain = await this.#readChain();
    // Chunks that ended together share a look at the chain.
    const ended = this.#ended.length === 0 ? [null] : this.#ended.splice(0);
    let wakeAtMs = 0;
    for (const one of ended) wakeAtMs = this.#step(chain, one === null ? null : this.#observe(one));
    return Math.min(wakeAtMs, this.context.clock.monotonic() + this.#backoff.untilNextTryMs);
  }

  /** Takes a step of the schedule, and starts what it says. @returns When to take the next, by the monotonic clock. */
  #step(chain: Observed["chain"], gathered: Gathered | null): number {
    const { clock } = this.context;
    const { current } = this.served.dataset.committee;
    if (this.#ranked.committee !== current) this.#ranked = this.#rank(current);
    const settings = { ...this.#settings, ranking: this.#ranked.ranking };
    const observed: Observed = {
      nowMs: clock.now(),
      monotonicMs: clock.monotonic(),
      chain,
      gathered,
      underway: this.#keysUnderway(),
      held: this.#heldKeys(),
      learnedLeadSeconds: this.#lead.seconds(this.settings.providerTimeoutMs, this.#blockMs ?? MAX_BLOCK_INTERVAL_MS),
    };
    const { state, gather, send, wakeAtMs } = step(settings, this.feeds, this.#state, observed);
    this.#state = state;
    for (const one of gather) this.#gather(one);
    for (const group of send) this.#send(group);
    return chain === null ? Math.min(wakeAtMs, clock.monotonic() + UNREADABLE_MS) : wakeAtMs;
  }

  #rank(committee: StoredCommittee) {
    const { members } = this.standing;
    // Only a member of the committee has a rank.
    const ranked = members === null ? committee.members : members.filter((one) => committee.members.includes(one));
    return { committee, ranking: new Ranking(this.served.dataset.address, ranked) };
  }

  /** The stored round of each feed as last read, in seconds since 1970; 0 if it was never stored. */
  get storedRounds(): ReadonlyMap<Hex, bigint> {
    return new Map(this.feeds.map(({ key }) => [key, this.#storedRound(key)]));
  }

  #storedRound(key: Hex): bigint {
    return this.#stored.get(key)?.updatedAt ?? 0n;
  }

  /** Reads the chain at its head; null when it cannot be read. */
  async #readChain(): Promise<Observed["chain"]> {
    const { dataset } = this.served;
    // Once an endpoint is ready again, there is nothing to wait for.
    if (!dataset.client.isReady() && !this.#backoff.isDue(SHARED.chain)) return null;
    try {
      const blockNumber = BigInt(await readBlockNumber(dataset.client));
      this.#stored = await readManyStored(dataset, [...this.#feedOf.keys()], "latest");
      this.#backoff.worked(SHARED.chain);
      this.#blockMs ??= await readBlockIntervalMs(dataset.client).catch(() => null);
      return { blockNumber, storedRounds: this.storedRounds };
    } catch (error) {
      if (!this.context.closing.aborted) this.#backoff.failed(SHARED.chain, error);
      return null;
    }
  }

  #keysUnderway(): ReadonlySet<Hex> {
    return new Set([...this.#sending, ...this.served.broadcasts.keysInQueues]);
  }

  /** The keys whose updates need a sender that does not send, or gas that is spent. */
  #heldKeys(): ReadonlyMap<Hex, Held> {
    const held = new Map<Hex, Held>();
    if (!this.#backoff.isAnyFailing) return held;
    for (const { key } of this.feeds) {
      const failing = this.#failingFor(key);
      const [by] = failing;
      if (by !== undefined) held.set(key, { by, mayTry: failing.every((one) => this.#backoff.isDue(one)) });
    }
    return held;
  }

  /** Lists what fails of the things that the key's update needs, the widest first. */
  #failingFor(key: Hex): readonly Dependency[] {
    return [SHARED.gas, this.#feed(key).sender].filter((one) => this.#backoff.isFailing(one));
  }

  /** Reports whether a key fails by itself. */
  #isFailing(key: Hex): boolean {
    return this.#backoff.isFailing(this.#feed(key).own);
  }

  #feed(key: Hex): Feed {
    return this.#feedOf.get(key) as Feed;
  }

  /** Asks every provider for one row per chunk, and hands what came to the next step, chunk by chunk. */
  #gather(gather: Gather): void {
    // A key that was never stored, or that failed by itself, would spoil the rows of the others.
    const isSingle = (key: Hex) => this.#storedRound(key) === 0n || this.#isFailing(key);
    const singles = gather.keys.filter(isSingle).map((key) => [key]);
    const together = gather.keys.filter((key) => !isSingle(key));
    for (const keys of [...chunksOf(together, MAX_BATCH_KEYS), ...singles]) {
      const chunk = { ...gather, keys };
      void this.#gatherRows(chunk).then((rows) => {
        this.#ended.push({ gather: chunk, rows });
        this.#wake.abort();
      });
    }
  }

  /** Gathers the rows of some keys; of each by itself where the providers refuse one of them. */
  async #gatherRows(gather: Gather): Promise<EndedGathering["rows"]> {
    const { keys } = gather;
    try {
      const rows = await this.#rowsOf(gather);
      this.#backoff.worked(SHARED.committee);
      return [{ keys, rows }];
    } catch (error) {
      const [first] = keys;
      if (keys.length > 1 && isWorthSplitting(error)) {
        return (await Promise.all(keys.map((key) => this.#gatherRows({ ...gather, keys: [key] })))).flat();
      }
      if (first !== undefined) await this.#failed(first, error);
      return [];
    }
  }

  /** Finds out what rows say of each key, beside what is stored now. */
  #observe({ gather, rows: gathered }: EndedGathering): Gathered {
    const { chainId: network, address: dataset, kind, committee } = this.served.dataset;
    const { members, toleranceBps } = committee.current;
    const results = new Map<Hex, GatheredKey>();
    for (const { keys, rows } of gathered) {
      const arrived = new Set(rows.map(({ provider }) => provider));
      for (const [index, key] of keys.entries()) {
        const observed = agreedValueInBatch(kind, members.length, rows, index);
        if (observed === null) continue;
        for (const row of rows) {
          if (observed.status !== "OK" || isMissing(row, index)) continue;
          const isOutlier = !agreesWith(kind, observed.value, row.values[index] ?? observed.value, toleranceBps);
          if (isOutlier) this.metrics.outliers.inc({ network, dataset, provider: row.provider });
        }
        const [policy, stored] = [this.#feedOf.get(key)?.policy, this.#stored.get(key)];
        const moved = policy !== undefined && stored !== undefined && hasMoved(policy, kind, stored, observed);
        results.set(key, { arrived, hasMoved: moved });
      }
    }
    return { gather, results };
  }

  /** Broadcasts keys: those that were stored before in batches, every other one by itself. */
  #send({ round, keys }: Send): void {
    const rankOf = (key: Hex) => this.#state.due.get(key)?.better.length ?? 0;
    const late = keys.filter((key) => rankOf(key) > 0);
    if (late.length > 0) {
      const rank = Math.max(...late.map(rankOf));
      this.#log.warn({ keys: late, rank }, "feed: the members of better ranks did not update these keys");
      this.metrics.failovers.inc({ network: this.served.dataset.chainId }, late.length);
    }
    // One that finds out whether its sender works again must not take others along.
    const isBatched = (key: Hex) =>
      this.#storedRound(key) > 0n && !this.#isFailing(key) && this.#failingFor(key).length === 0;
    const together = new Set(keys.filter(isBatched));
    for (const key of keys) {
      if (together.has(key)) continue;
      this.#backoff.tried(...this.#failingFor(key));
      this.#broadcast([key], round);
    }
    for (const chunk of chunksOf([...together], MAX_BATCH_KEYS)) this.#broadcast(chunk, round);
  }

  /** Updates keys in one transaction, then each key that the batch did not store in a transaction of its own. */
  #broadcast(keys: readonly Hex[], round: bigint): void {
    const { broadcasts } = this.served;
    const startedAt = this.context.clock.monotonic();
    const batched = keys.length > 1 ? this.#broadcastBatch(keys, round) : null;
    let isTimed = false;
    for (const key of keys) {
      this.#sending.add(key);
      let { sender } = this.#feed(keys[0] as Hex);
      const outcome = batched?.then((stored) => {
        const update = stored.get(key) ?? null;
        if (update === null) sender = this.#feed(key).sender;
        return update;
      });
      // Nobody awaits this if a request has begun to update the same round in the meantime.
      outcome?.catch(() => {});
      broadcasts
        .broadcastOwn(key, round, outcome)
        .then(async ({ mined: untilMined }) => {
          // It says nothing of the committee, which may have fallen silent since it signed.
          const isReleased = this.#backoff.worked(SHARED.gas, sender);
          this.#backoff.worked(this.#feed(key).own);
          // What was held has its turn now.
          if (isReleased) this.#wake.abort();
          const mined = await nullAfterTimeout(untilMined, MAX_MINING_WAIT_MS, this.context.closing);
          // Those of a batch are mined together.
          if (mined === null || isTimed) return;
          isTimed = batched !== null;
          this.#lead.record(this.context.clock.monotonic() - startedAt);
        })
        .catch((error: unknown) => this.#failed(key, error, sender))
        .finally(() => this.#sending.delete(key));
    }
  }

  /**
   * Broadcasts a batch.
   *
   * @returns The keys that it is going to store. Each other key needs a transaction of its own.
   * @throws The batch's error when its keys would fail by themselves too.
   */
  async #broadcastBatch(keys: readonly Hex[], round: bigint): Promise<ReadonlyMap<Hex, UpdateInFlight>> {
    try {
      const stored = await this.served.broadcasts.broadcastBatch(keys, round);
      this.#backoff.worked(SHARED.batches);
      return stored;
    } catch (error) {
      if (!isWorthSplitting(error)) throw error;
      // Where the gas is spent, its keys say so.
      if (failureScopeOf(error) !== "gas") this.#backoff.failed(SHARED.batches, error);
      return new Map();
    }
  }

  /** @param sender The one that was to send. */
  async #failed(key: Hex, error: unknown, sender = this.#feed(key).sender): Promise<void> {
    if (this.context.closing.aborted) return;
    const scope = failureScopeOf(error);
    this.#backoff.failed({ ...SHARED, sender, update: this.#feed(key).own }[scope], error);
    // Members that refuse a question have answered.
    if (scope === "update" && error instanceof NoQuorum) this.#backoff.worked(SHARED.committee);
    if (scope !== "committee") return;
    const { committee } = this.served.dataset;
    // A committee that was replaced may never answer again. If the RPC fails here, the next failure looks again.
    await committee.refreshIfReplaced(committee.current).catch(() => false);
  }
}
