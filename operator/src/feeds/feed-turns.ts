import { setTimeout as delay } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { readManyStored } from "../chain/stored.js";
import { roundAt } from "../clock.js";
import { dataPointOf } from "../data-point.js";
import type { DatasetFeeds, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { NoQuorum } from "../problems.js";
import { Progress } from "../single-flight.js";
import { submitRaw } from "../tx/submitter.js";
import type { StoredFeed } from "./policy.js";
import { takeTurn } from "./take-turn.js";
import { beatAt, msUntilNextBeat, orderOf, stagesBefore } from "./turns.js";

/** A batch of this many keys, signed by four providers, uses about five million units of gas. */
const MAX_BATCH_KEYS = 100;
/** How long a node gathers reports by itself before it asks the other nodes for what it lacks. */
const RELAY_AFTER_MS = 1_000;

/** The result of waiting for a turn. */
export interface TakenTurn {
  /** The feeds that this node has to update; none when another node did. */
  readonly feeds: readonly StoredFeed[];
  /** This node's rank; 0 is the best. */
  readonly rank: number;
  /** How long it took to gather the reports, in milliseconds. */
  readonly gatherMs: number;
}

/** Takes turns with the other nodes of the network at updating the feeds of one dataset. */
export class FeedTurns {
  /** All nodes divide the feeds in the same way, whatever each finds due and in whatever order they are configured. */
  readonly #chunkOf: ReadonlyMap<Hex, number>;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly datasetFeeds: DatasetFeeds,
  ) {
    const chunks = split(datasetFeeds.feeds.map(({ key }) => key).toSorted());
    this.#chunkOf = new Map(chunks.flatMap((keys, index) => keys.map((key) => [key, index] as const)));
  }

  /** True for an operator without other nodes: every turn is its own. */
  get isAlone(): boolean {
    return this.network.nodes.all.length === 0;
  }

  /** Returns the round of an update that begins now, in seconds since 1970. */
  roundAt(nowMs: number): bigint {
    return this.isAlone ? roundAt(nowMs) : beatAt(nowMs, this.network.settings.beatSeconds);
  }

  msUntilNextBeat(nowMs: number): number {
    return msUntilNextBeat(nowMs, this.network.settings.beatSeconds);
  }

  /** Divides feeds into those that one transaction updates. */
  chunksOf<T extends { readonly key: Hex }>(feeds: readonly T[]): readonly (readonly T[])[] {
    if (this.isAlone) return split(feeds);
    const sorted = feeds.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const indexes = [...new Set(this.#chunkOf.values())];
    const chunks = indexes.map((index) => sorted.filter(({ key }) => this.#chunkOf.get(key) === index));
    return chunks.filter(({ length }) => length > 0);
  }

  /**
   * Waits for this node's turn to update feeds of one chunk.
   *
   * @param blockMs The time between blocks.
   * @throws ProblemError without a quorum: such a node waits for no turn, and sends nothing.
   */
  async take(feeds: readonly StoredFeed[], round: bigint, blockMs: number): Promise<TakenTurn> {
    const { clock, closing } = this.operator;
    const { dataset } = this.datasetFeeds;
    const startedAt = clock();
    const held = await this.#gather(feeds, round);
    const gatherMs = clock() - startedAt;
    const { all, own } = this.network.nodes;
    const { members } = dataset.committee.current;
    // Anyone can be listed as a node, so only the committee's members have ranks.
    const providers = all.map(({ provider }) => provider).filter((provider) => members.includes(provider));
    const chunk = this.#chunkOf.get(feeds[0]?.key ?? "0x") ?? 0;
    const order = orderOf({ dataset: dataset.address, chunk, round }, providers);
    const stages = stagesBefore(own?.provider ?? null, order, held, this.network.settings);

    let left = feeds;
    const isOwn = await takeTurn(stages, blockMs, {
      sleep: async (ms) => {
        await delay(ms, undefined, { signal: closing });
      },
      isMined: async () => {
        left = await this.#notMined(left);
        return left.length === 0;
      },
      offerOther: () => this.#offerOther(left, round),
    });
    return { feeds: isOwn ? left : [], rank: stages.length, gatherMs };
  }

  /** Gathers the reports of a round, with the other nodes' help if it has to. It returns the providers whose report is held. */
  async #gather(feeds: readonly StoredFeed[], round: bigint): Promise<ReadonlySet<Address>> {
    const { network, operator } = this;
    const { dataset } = this.datasetFeeds;
    const [first] = feeds;
    const gather = async () => {
      if (first === undefined) return [];
      if (feeds.length > 1)
        return operator.builder.rowsOf({ network, dataset, keys: feeds.map(({ key }) => key), round });
      const update = await operator.builder.build(dataPointOf(network, dataset, first.key), round, new Progress());
      return update.kind === "stale" ? [] : update.reports;
    };
    const isOver = new AbortController();
    const signal = AbortSignal.any([isOver.signal, operator.closing]);
    const relayed = delay(RELAY_AFTER_MS, undefined, { signal }).then(() =>
      network.gossip.fetchReports(dataset, round),
    );
    relayed.catch(() => {});
    try {
      const reports = await gather().catch(async (error: unknown) => {
        if (!(error instanceof NoQuorum)) throw error;
        await relayed;
        return gather();
      });
      return new Set(reports.map(({ provider }) => provider));
    } finally {
      isOver.abort();
    }
  }

  /** Returns the feeds that no transaction has updated since their values were read. */
  async #notMined(feeds: readonly StoredFeed[]): Promise<readonly StoredFeed[]> {
    const updated = await this.#updated(feeds, "latest");
    return feeds.filter((feed) => !updated.includes(feed));
  }

  /**
   * Finds out whether another node's transaction is on its way, and gives one that was shared to this node's RPC endpoints:
   * they may not have it yet.
   */
  async #offerOther(feeds: readonly StoredFeed[], round: bigint): Promise<boolean> {
    const { network, operator } = this;
    const keys = feeds.map(({ key }) => key);
    const shared = network.gossip.sharedFor(this.datasetFeeds.dataset.address, keys, round);
    if (shared !== null) {
      operator.metrics.submittedForOther(network.chainId);
      const { kind } = await submitRaw(network.client, shared.raw, shared.hash);
      operator.logger.info(
        { network: network.chainId, transaction: shared.hash, result: kind },
        "another node's transaction submitted",
      );
      if (kind !== "rejected") return true;
    }
    return (await this.#updated(feeds, "pending")).length > 0;
  }

  /** Returns the feeds that were updated since their values were read; none when the chain cannot be read. */
  async #updated(feeds: readonly StoredFeed[], blockTag: "latest" | "pending"): Promise<readonly StoredFeed[]> {
    const { client } = this.network;
    const keys = feeds.map(({ key }) => key);
    const points = await readManyStored(client, this.datasetFeeds.dataset.address, keys, blockTag).catch(() => []);
    return feeds.filter(({ stored }, index) => (points[index]?.updatedAt ?? 0n) > stored.updatedAt);
  }
}

function split<T>(feeds: readonly T[]): T[][] {
  const count = Math.ceil(feeds.length / MAX_BATCH_KEYS);
  return Array.from({ length: count }, (_, i) => feeds.slice(i * MAX_BATCH_KEYS, (i + 1) * MAX_BATCH_KEYS));
}
