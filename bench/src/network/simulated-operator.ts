import { isQuorum } from "@dataset-oracle/protocol/quorum";
import type { Address, Hex } from "viem";
import { beatAt } from "../../../operator/dist/schedule/beat.js";
import type { ScheduleSettings } from "../../../operator/dist/schedule/cadence.js";
import {
  ASK_AGAIN_AFTER_MS,
  type Gather,
  type Gathered,
  GRACE_MS,
  INITIAL_STATE,
  LEAST_GATHER_MS,
  MOST_GATHER_MS,
  type ScheduledKey,
  type ScheduleState,
  type Send,
  step,
} from "../../../operator/dist/schedule/transmission-schedule.js";

import type { EventQueue } from "./event-queue.js";
import type { Model } from "./model.js";
import type { SeededRandom } from "./random.js";
import type { SimulatedChain, SimulatedTransaction } from "./simulated-chain.js";

/** What all operators share. */
export interface SharedWorld {
  readonly model: Model;
  readonly random: SeededRandom;
  readonly events: EventQueue;
  readonly chain: SimulatedChain;
  readonly members: readonly Address[];
  readonly keys: readonly ScheduledKey[];
  /** The share of the requests to other members' providers that get lost. */
  readonly requestLoss: number;
  /** Whether a key's value has moved past its deviation threshold between two rounds. */
  hasMoved(key: Hex, storedRound: bigint, round: bigint): boolean;
}

/** How a request for one row ends. */
interface GatheringEnd {
  readonly endsAt: number;
  /** Whose rows arrived; null without a quorum. */
  readonly arrived: ReadonlySet<Address> | null;
}

/** An operator of a member: it does what the operator's own schedule says, with a node and links of its own. */
export class SimulatedOperator {
  #state: ScheduleState = INITIAL_STATE;
  /** The rows that it holds of the last beat: their keys and round. */
  #held: Send[] = [];
  /** Keys whose rows are asked for, to be sent. */
  readonly #preparing = new Set<Hex>();
  /** The last block that its node has seen, and when it sees the next. */
  #head = 0;
  #nextSeenAt: number | null = null;
  /** Its transactions, until its node has seen the blocks in which they are mined. */
  #sent: SimulatedTransaction[] = [];
  /** The wake-up that counts; those planned before it do not. */
  #wakeUp = 0;

  /** How far its clock is off. */
  readonly #clockMs: number;

  /** @param reach For each member, whether its provider can answer this operator at all. */
  constructor(
    private readonly world: SharedWorld,
    private readonly settings: ScheduleSettings & { readonly role: Address },
    private readonly reach: readonly boolean[],
  ) {
    this.#clockMs = Math.round(world.random.between(-world.model.clockMs, world.model.clockMs));
  }

  start(): void {
    this.#step(null);
  }

  #step(gathered: Gathered | null) {
    const { events, keys } = this.world;
    this.#follow();
    const observed = {
      nowMs: events.now + this.#clockMs,
      monotonicMs: events.now,
      chain: { blockNumber: BigInt(this.#head), storedRounds: this.#storedRounds },
      gathered,
      underway: this.#underway(),
      held: new Map(),
      learnedLeadSeconds: 0,
    };
    const { state, gather, send, wakeAtMs } = step(this.settings, keys, this.#state, observed);
    this.#state = state;
    if (gather.length > 0) this.#gather(gather);
    for (const one of send) this.#send(one);
    const wakeUp = ++this.#wakeUp;
    events.plan(wakeAtMs, () => {
      if (wakeUp === this.#wakeUp) this.#step(null);
    });
  }

  /** Looks which blocks have reached its node. */
  #follow() {
    const { events, chain, model, random } = this.world;
    for (;;) {
      const next = chain.blocks[this.#head + 1];
      if (next === undefined) return;
      this.#nextSeenAt ??= next.at + Math.ceil(random.between(...model.blockToNodeMs));
      if (this.#nextSeenAt > events.now) return;
      this.#head++;
      this.#nextSeenAt = null;
    }
  }

  get #storedRounds() {
    const { blocks } = this.world.chain;
    return (blocks[this.#head] ?? blocks[0]).storedRounds;
  }

  #underway() {
    this.#sent = this.#sent.filter(({ minedIn }) => minedIn === null || minedIn > this.#head);
    return new Set([...this.#preparing, ...this.#sent.flatMap(({ keys }) => keys)]);
  }

  #gather(gatherings: readonly Gather[]) {
    const { events, hasMoved } = this.world;
    this.#held = this.#held.filter(({ round }) => gatherings.every((gather) => gather.round === round));
    for (const gather of gatherings) {
      const { keys, round, awaited } = gather;
      const { endsAt, arrived } = this.#ask(awaited);
      events.plan(endsAt, () => {
        if (arrived !== null) this.#held.push({ keys, round });
        this.#follow();
        const storedRounds = this.#storedRounds;
        const results = (arrived === null ? [] : keys).map((key) => {
          return [
            key,
            { arrived: arrived ?? new Set(), hasMoved: hasMoved(key, storedRounds.get(key) ?? 0n, round) },
          ] as const;
        });
        this.#step({ gather, results: new Map(results) });
      });
    }
  }

  /**
   * Asks every provider for one row.
   *
   * @param awaited Once these have answered, a quorum ends it.
   */
  #ask(awaited: ReadonlySet<Address>): GatheringEnd {
    const { events, members, model, random, requestLoss } = this.world;
    const arrivals = members.map((member, index) => {
      if (!this.reach[index]) return Number.POSITIVE_INFINITY;
      const loss = member === this.settings.role ? 0 : requestLoss;
      const answerMs = () => {
        const ms = Math.ceil(random.logNormal(model.report.medianMs, model.report.sigma));
        return random.chance(loss) ? Number.POSITIVE_INFINITY : ms;
      };
      const ms = answerMs();
      return ms <= ASK_AGAIN_AFTER_MS ? ms : Math.min(ms, ASK_AGAIN_AFTER_MS + answerMs());
    });
    const size = members.length;
    const inOrder = Float64Array.from(arrivals).sort();
    const quorumMs = inOrder.find((_, index) => isQuorum(index + 1, size - index - 1)) ?? Number.POSITIVE_INFINITY;
    if (quorumMs > MOST_GATHER_MS) return { endsAt: events.now + MOST_GATHER_MS, arrived: null };
    const awaitedMs = members.reduce(
      (ms, member, index) => (awaited.has(member) ? Math.max(ms, arrivals[index] ?? 0) : ms),
      0,
    );
    const patientMs = Math.min(Math.max(quorumMs + GRACE_MS, LEAST_GATHER_MS), MOST_GATHER_MS);
    const endMs = Math.min(Math.max(quorumMs, awaitedMs), patientMs);
    return {
      endsAt: events.now + endMs,
      arrived: new Set(members.filter((_, index) => (arrivals[index] ?? Number.POSITIVE_INFINITY) <= endMs)),
    };
  }

  #send({ keys, round }: Send) {
    const isHeld = this.#held.some((held) => held.round === round && isSameSet(held.keys, keys));
    if (isHeld) {
      this.#submit(keys, round);
      return;
    }
    for (const key of keys) this.#preparing.add(key);
    const { endsAt, arrived } = this.#ask(new Set());
    this.world.events.plan(endsAt, () => {
      this.#step(null);
      for (const key of keys) this.#preparing.delete(key);
      if (arrived !== null && this.#isAnyDue(keys)) this.#submit(keys, round);
    });
  }

  #isAnyDue(keys: readonly Hex[]) {
    return keys.some((key) => this.#state.due.has(key));
  }

  #submit(keys: readonly Hex[], round: bigint) {
    const transaction = this.world.chain.submit(this.settings.role, keys, round);
    this.#sent.push(transaction);
    this.#replaceWhenStuck(transaction, this.world.model.stuckMs);
  }

  /** As the transaction queue does: with the newest round of the keys, or by a cancellation if they are stored. */
  #replaceWhenStuck(transaction: SimulatedTransaction, afterMs: number) {
    const { events, chain, model } = this.world;
    events.plan(events.now + afterMs, () => {
      if (transaction.minedIn !== null) return;
      if (chain.queueOf(this.settings.role)[0] !== transaction) {
        this.#replaceWhenStuck(transaction, model.stuckPollMs);
        return;
      }
      const round = beatAt(events.now + this.#clockMs, this.settings.beatSeconds);
      const { endsAt, arrived } = this.#ask(new Set());
      events.plan(endsAt, () => {
        this.#step(null);
        if (transaction.minedIn !== null) return;
        const isRenewed = arrived !== null && this.#isAnyDue(transaction.keys);
        chain.replace(transaction, isRenewed ? transaction.keys : [], round);
        this.#replaceWhenStuck(transaction, model.stuckMs);
      });
    });
  }
}

const isSameSet = (a: readonly Hex[], b: readonly Hex[]) => a.length === b.length && a.every((key) => b.includes(key));
