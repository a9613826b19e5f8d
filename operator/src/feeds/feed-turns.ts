import { setTimeout as delay } from "node:timers/promises";
import type { SignedValue } from "@dataset-oracle/protocol/encode-update";
import type { Address, Hex } from "viem";
import { readManyStored } from "../chain/stored-values.js";
import { dataPointOf } from "../data-point.js";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import type { HeldTransaction } from "../peers/held-transactions.js";
import { nodesIn, nodesOfProviders } from "../peers/node-list.js";
import { fetchTransactions } from "../peers/share-transactions.js";
import { Progress } from "../progress.js";
import { roundStartMs } from "../round-time.js";
import type { StoredFeed } from "./feed.js";
import { FeedChunks } from "./feed-chunks.js";
import { minedNonces, rebroadcastForOtherNodes } from "./rebroadcast-for-other-nodes.js";
import { orderOf, stagesBefore } from "./turn-schedule.js";
import { waitForTurn } from "./wait-for-turn.js";

/**
 * The number of the first turn for feeds that were never stored. Each such feed needs a transaction of its own, and has
 * a turn of its own, so that the nodes share the work if there are many.
 */
const FIRST_NEW = 1 << 16;

/** The result of waiting for a turn. */
export interface TakenTurn {
  /** The feeds that this node has to update; none when another node did. */
  readonly feeds: readonly StoredFeed[];
  /** This node's rank; 0 is the best. */
  readonly rank: number;
}

/** Takes turns with the other nodes of the network at updating the feeds of one dataset. */
export class FeedTurns {
  readonly chunks: FeedChunks;

  constructor(
    private readonly operator: Operator,
    private readonly network: Network,
    private readonly dataset: Dataset,
  ) {
    this.chunks = new FeedChunks(network, dataset.feeds);
  }

  /** True for an operator without other nodes: every turn is its own. */
  get isAlone(): boolean {
    return this.network.nodes.isAlone;
  }

  #turnOf(feeds: readonly StoredFeed[]): number {
    const [first] = feeds;
    if (first === undefined) return 0;
    return first.stored.updatedAt > 0n ? this.chunks.chunkOf(first) : FIRST_NEW + this.chunks.indexOf(first);
  }

  /**
   * Waits for this node's turn to update feeds of one chunk.
   *
   * @param blockMs The time between blocks.
   * @throws ProblemError without a quorum: such a node waits for no turn, and sends nothing.
   */
  async take(feeds: readonly StoredFeed[], round: bigint, blockMs: number): Promise<TakenTurn> {
    const { closing } = this.operator;
    const { dataset } = this;
    const startedAt = this.operator.clock();
    const usage = performance.eventLoopUtilization();
    const held = await this.#gather(feeds, round);
    const { settings } = this.network;
    const graceLeftMs = Math.max(0, settings.graceMs - (this.operator.clock() - startedAt));
    const { own } = this.network.nodes;
    const turn = { dataset: dataset.address, chunk: this.#turnOf(feeds), round };
    const order = orderOf(turn, nodesIn(dataset.committee.current.members, this.network.nodes));
    const stages = stagesBefore(own?.provider ?? null, order, held, { ...settings, graceLeftMs });
    const better = nodesOfProviders(order.slice(0, stages.length), this.network.nodes).map(
      ({ submitter }) => submitter,
    );

    let left = feeds;
    let other: HeldTransaction | null = null;
    /** Transactions whose senders had others mined in their place. */
    const lost = new Map<Hex, Address>();
    const isOwn = await waitForTurn(stages, blockMs, {
      sleep: async (ms) => {
        await delay(ms, undefined, { signal: closing });
      },
      isMined: async () => {
        left = await this.#notMined(left);
        return left.length === 0;
      },
      findOtherTransaction: async () => {
        const lostBefore = lost.size;
        other = await this.#submitForOthers(left, round, better, lost);
        if (other !== null || (await this.#updated(left, "pending")).length > 0) return "found";
        const [first] = left;
        if (first !== undefined && this.#canOthersHaveSent(round)) {
          await fetchTransactions(this.operator, this.network, dataset, first.key, round, held);
          other = await this.#submitForOthers(left, round, better, lost);
        }
        if (other !== null) return "found";
        return lost.size > lostBefore ? "lost" : "none";
      },
      isOtherLost: async () => {
        if (other === null) return false;
        const isLost = (await minedNonces(this.network.client, other.sender)) > other.nonce;
        if (isLost) lost.set(other.hash, other.sender);
        return isLost;
      },
      nodesBefore: () => {
        const losers = new Set(lost.values());
        return better.filter((sender) => !losers.has(sender)).length;
      },
      busyMs: () => Math.min(settings.stageMs, performance.eventLoopUtilization(usage).active),
    });
    return { feeds: isOwn ? left : [], rank: stages.length };
  }

  /**
   * Reports whether another node can have sent a round by now. Before that only the leader can, and only the leader
   * asks so early.
   */
  #canOthersHaveSent(round: bigint): boolean {
    const { stageMs, absentStageMs } = this.network.settings;
    return this.operator.clock() - roundStartMs(round) >= Math.min(stageMs, absentStageMs);
  }

  /** Gathers the reports of a round. It returns the providers whose report is held. */
  async #gather(feeds: readonly StoredFeed[], round: bigint): Promise<ReadonlySet<Address>> {
    const { network, operator, dataset } = this;
    const [first] = feeds;
    if (first === undefined) return new Set();
    const reports =
      feeds.length > 1
        ? await operator.builder.rowsOf({ network, dataset, keys: feeds.map(({ key }) => key), round })
        : await this.#reportsOf(first.key, round);
    return new Set(reports.map(({ provider }) => provider));
  }

  async #reportsOf(key: Hex, round: bigint): Promise<readonly SignedValue[]> {
    const dataPoint = dataPointOf(this.network, this.dataset, key);
    const update = await this.operator.builder.build(dataPoint, round, new Progress());
    return update.kind === "stale" ? [] : update.reports;
  }

  /** Returns the feeds that no transaction has updated since their values were read. */
  async #notMined(feeds: readonly StoredFeed[]): Promise<readonly StoredFeed[]> {
    const updated = await this.#updated(feeds, "latest");
    return feeds.filter((feed) => !updated.includes(feed));
  }

  #submitForOthers(
    feeds: readonly StoredFeed[],
    round: bigint,
    better: readonly Address[],
    lost: Map<Hex, Address>,
  ): Promise<HeldTransaction | null> {
    const batch = { network: this.network, dataset: this.dataset, keys: feeds.map(({ key }) => key), round };
    return rebroadcastForOtherNodes(this.operator, batch, better, lost);
  }

  /** Returns the feeds that were updated since their values were read; none when the chain cannot be read. */
  async #updated(feeds: readonly StoredFeed[], blockTag: "latest" | "pending"): Promise<readonly StoredFeed[]> {
    const { client } = this.network;
    const keys = feeds.map(({ key }) => key);
    const points = await readManyStored(client, this.dataset.address, keys, blockTag).catch(() => []);
    return feeds.filter(({ stored }, index) => (points[index]?.updatedAt ?? 0n) > stored.updatedAt);
  }
}
