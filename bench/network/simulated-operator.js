import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { beatAt } from "../../operator/dist/schedule/beat.js";
import {
  ASK_AGAIN_AFTER_MS,
  GRACE_MS,
  INITIAL_STATE,
  LEAST_GATHER_MS,
  MOST_GATHER_MS,
  step,
} from "../../operator/dist/schedule/transmission-schedule.js";

/** An operator of a member: it does what the operator's own schedule says, with a node and links of its own. */
export class SimulatedOperator {
  #state = INITIAL_STATE;
  /** The rows of due keys that it holds: their keys and round. */
  #held = { keys: [], round: 0n };
  /** Keys whose rows are asked for, to be sent. */
  #preparing = new Set();
  /** The last block that its node has seen, and when it sees the next. */
  #head = 0;
  #nextSeenAt = null;
  /** Its transactions, until its node has seen the blocks in which they are mined. */
  #sent = [];
  /** The wake-up that counts; those planned before it do not. */
  #wakeUp = 0;

  /**
   * @param world What all operators share: the model, events, random numbers, the chain, the members and the keys.
   * @param reach For each member, whether its provider can answer this operator at all.
   */
  constructor(world, settings, reach) {
    this.world = world;
    this.settings = settings;
    this.reach = reach;
    this.clockMs = Math.round(world.random.between(-world.model.clockMs, world.model.clockMs));
  }

  start() {
    this.#step(null);
  }

  #step(gathered) {
    const { events, keys } = this.world;
    const { blocks } = this.world.chain;
    this.#follow();
    const observed = {
      nowMs: events.now + this.clockMs,
      chain: { blockNumber: BigInt(this.#head), storedRounds: blocks[this.#head].storedRounds },
      gathered,
      busy: this.#busy(),
      learnedLeadSeconds: 0,
    };
    const { state, gather, send, wakeAtMs } = step(this.settings, keys, this.#state, observed);
    this.#state = state;
    if (gather !== null) this.#gather(gather);
    for (const one of send) this.#send(one);
    const wakeUp = ++this.#wakeUp;
    events.plan(wakeAtMs - this.clockMs, () => {
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

  #busy() {
    this.#sent = this.#sent.filter(({ minedIn }) => minedIn === null || minedIn > this.#head);
    return new Set([...this.#preparing, ...this.#sent.flatMap(({ keys }) => keys)]);
  }

  #gather(gather) {
    const { events, hasMoved, members } = this.world;
    const chunks = [
      { chunk: gather.due, awaited: gather.awaited },
      { chunk: gather.watched, awaited: new Set(members) },
    ];
    const asked = chunks.filter(({ chunk }) => chunk.length > 0);
    const ends = asked.map(({ chunk, awaited }) => ({ chunk, ...this.#ask(awaited) }));
    events.plan(Math.max(...ends.map(({ endsAt }) => endsAt)), () => {
      const answered = ends.flatMap(({ chunk, arrived }) => {
        if (arrived === null) return [];
        return chunk.map((key) => [
          key,
          { arrived, hasMoved: hasMoved(key, gather.storedRounds.get(key), gather.round) },
        ]);
      });
      if (gather.due.length > 0) this.#held = { keys: gather.due, round: gather.round };
      this.#step({ gather, keys: new Map(answered) });
    });
  }

  /**
   * Asks every provider for one row. Returns when that ends, and whose rows arrived; null without a quorum.
   *
   * @param awaited Once these have answered, a quorum ends it.
   */
  #ask(awaited) {
    const { events, members, model, random, requestLoss } = this.world;
    const arrivals = members.map((member, index) => {
      if (!this.reach[index]) return Number.POSITIVE_INFINITY;
      const loss = member === this.settings.sender ? 0 : requestLoss;
      const answerMs = () => {
        const ms = Math.ceil(random.logNormal(model.report.medianMs, model.report.sigma));
        return random.chance(loss) ? Number.POSITIVE_INFINITY : ms;
      };
      const ms = answerMs();
      return ms <= ASK_AGAIN_AFTER_MS ? ms : Math.min(ms, ASK_AGAIN_AFTER_MS + answerMs());
    });
    const size = members.length;
    const inOrder = Float64Array.from(arrivals).sort();
    const quorumMs = inOrder.find((_, index) => isQuorum(index + 1, size - index - 1));
    if (quorumMs > MOST_GATHER_MS) return { endsAt: events.now + MOST_GATHER_MS, arrived: null };
    const awaitedMs = members.reduce(
      (ms, member, index) => (awaited.has(member) ? Math.max(ms, arrivals[index]) : ms),
      0,
    );
    const patientMs = Math.min(Math.max(quorumMs + GRACE_MS, LEAST_GATHER_MS), MOST_GATHER_MS);
    const endMs = Math.min(Math.max(quorumMs, awaitedMs), patientMs);
    return { endsAt: events.now + endMs, arrived: new Set(members.filter((_, index) => arrivals[index] <= endMs)) };
  }

  #send({ keys, round }) {
    const held = this.#held;
    if (held.round === round && isSameSet(held.keys, keys)) return this.#submit(keys, round);
    for (const key of keys) this.#preparing.add(key);
    const { endsAt, arrived } = this.#ask(new Set());
    this.world.events.plan(endsAt, () => {
      this.#step(null);
      for (const key of keys) this.#preparing.delete(key);
      if (arrived !== null && this.#isAnyDue(keys)) this.#submit(keys, round);
    });
  }

  #isAnyDue(keys) {
    return keys.some((key) => this.#state.due.has(key));
  }

  #submit(keys, round) {
    const transaction = this.world.chain.submit(this.settings.sender, keys, round);
    this.#sent.push(transaction);
    this.#replaceWhenStuck(transaction, this.world.model.stuckMs);
  }

  /** As the transaction queue does: with the newest round of the keys, or by a cancellation if they are stored. */
  #replaceWhenStuck(transaction, afterMs) {
    const { events, chain, model } = this.world;
    events.plan(events.now + afterMs, () => {
      if (transaction.minedIn !== null) return;
      if (chain.queueOf(this.settings.sender)[0] !== transaction) {
        return this.#replaceWhenStuck(transaction, model.stuckPollMs);
      }
      const round = beatAt(events.now + this.clockMs, this.settings.beatSeconds);
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

const isSameSet = (a, b) => a.length === b.length && a.every((key) => b.includes(key));
