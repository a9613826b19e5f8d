import { LRUCache } from "lru-cache";
import { type Hex, stringToHex } from "viem";
import type { Check, Invariant } from "./invariant.js";
import { hashOf } from "./keys.js";
import type { OperatorMachine } from "./operator-process.js";
import {
  isPoor,
  isReverted,
  MAX_REVERTS,
  machineOf,
  TRANSACTION_INVARIANTS,
  updatesOf,
} from "./transaction-invariants.js";
import { BEAT_SECONDS, DEVIATION_BPS, MIN_INTERVAL_SECONDS, STUCK_SECONDS, type World } from "./world.js";

/** Until then every feed has been stored for the first time. */
const SETTLED_MS = 100_000;
/** How much later than its heartbeat a feed may be stored. */
const LATE_SECONDS = 10;

/** What the invariants need that hold in every world with feeds. */
export type FeedsWorld = Pick<
  World,
  "nowMs" | "violate" | "chain" | "mined" | "asked" | "feeds" | "heartbeatOf" | "isFailing" | "excuses" | "lasting"
>;

/** Every feed is within its heartbeat and ten seconds. */
const feedsAreFresh = (world: FeedsWorld): Check => {
  const late = new Set<string>();
  return {
    atBlock() {
      if (world.nowMs < SETTLED_MS || world.excuses.length > 0) return;
      const { points } = world.chain.head.state;
      for (const feed of world.feeds) {
        const age = Date.now() / 1000 - Number(points.get(hashOf(feed))?.round ?? 0n);
        if (world.isFailing(hashOf(feed))) continue;
        if (age <= world.heartbeatOf(feed) + LATE_SECONDS) {
          late.delete(feed);
          continue;
        }
        if (late.has(feed)) continue;
        late.add(feed);
        const detail = `${feed} is ${age.toFixed(1)} s old; faults: ${world.lasting.join(", ") || "none"}`;
        world.violate("stale feed", `${feed} ${world.nowMs}`, detail);
      }
    },
  };
};

/** A move beyond the deviation threshold that lasts is stored soon. */
const movesAreStored: Invariant = (world) => {
  const since = new Map<string, number>();
  const boundMs = MIN_INTERVAL_SECONDS * 1_000 + BEAT_SECONDS * 1_000 + world.scheduleMs;
  return {
    atBlock() {
      if (world.nowMs < SETTLED_MS) return;
      const second = Math.floor(Date.now() / 1000);
      for (const feed of world.feeds) {
        const stored = world.chain.head.state.points.get(hashOf(feed));
        const price = world.market.priceOf(stringToHex(feed), second);
        const before = BigInt(stored?.value ?? 0n);
        const difference = price > before ? price - before : before - price;
        // The ripple, and what members differ by, are far below this.
        const hasMoved = difference * 10_000n > before * BigInt(DEVIATION_BPS + 10);
        if (!hasMoved || world.isFailing(hashOf(feed))) since.delete(feed);
        else if (!since.has(feed)) since.set(feed, world.calmMs);
        else if (world.calmMs - (since.get(feed) ?? 0) > boundMs) {
          const detail = `${feed} is ${price}, and ${before} is stored since round ${stored?.round}`;
          world.violate("move not stored", `${feed} ${stored?.round}`, detail);
        }
      }
    },
  };
};

/** An operator gives up an update that it could not build or send for so long. */
const GIVE_UP_MS = 600_000;

/** An accepted broadcast ends with its round or a newer one stored, unless its transactions keep reverting. */
const promisesAreKept: Invariant = (world) => {
  const boundMs = 4 * STUCK_SECONDS * 1_000;
  const promisedAt = new Map<number, number>();
  const reverts: {
    readonly machine: OperatorMachine;
    readonly keyHash: string;
    readonly at: number;
    /** Whether more gas would not have helped. */
    readonly isHopeless: boolean;
  }[] = [];
  // By a clock that is ahead, every round lies in the future.
  const isHopeless = (machine: OperatorMachine, keyHash: Hex) =>
    keyHash === world.chain.dearKeyHash || machine.clockOffsetMs > 0;
  return {
    atBlock() {
      const { points } = world.chain.head.state;
      for (const { transaction } of world.mined.filter(isReverted)) {
        const machine = machineOf(world, transaction);
        for (const keyHash of updatesOf(transaction)?.keyHashes ?? [])
          if (machine !== undefined)
            reverts.push({ machine, keyHash, at: Date.now(), isHopeless: isHopeless(machine, keyHash) });
      }
      const { asked } = world;
      for (let i = asked.length - 1; i >= 0; i--) {
        const one = asked[i];
        if (one === undefined) continue;
        const { id, life, key, at, promised, answeredAt } = one;
        const forget = () => {
          asked.splice(i, 1);
          promisedAt.delete(id);
        };
        // What an ended process had promised, the next one can only recover as far as the chain shows it.
        if (!life.isAlive || (answeredAt !== null && promised === null)) forget();
        else if (promised === null) continue;
        else if ((points.get(hashOf(key))?.round ?? 0n) >= promised.round) {
          // A reorganization can still take it back.
          if (answeredAt !== null && Date.now() - answeredAt > 2 * boundMs) forget();
          else promisedAt.set(id, world.queueCalmMs);
        } else {
          if (!promisedAt.has(id) || life.operator.isHit || life.operator.accounts.some((each) => isPoor(world, each)))
            promisedAt.set(id, world.queueCalmMs);
          const ownReverts = (since: number) =>
            reverts.filter(
              (each) => each.machine === life.operator && each.keyHash === hashOf(key) && each.at >= since,
            );
          const waitedMs = world.queueCalmMs - (promisedAt.get(id) ?? 0);
          if (waitedMs <= boundMs) {
            const isGivenUp = world.givenUp.some(
              (each) =>
                each.life === life &&
                each.keys.includes(stringToHex(key)) &&
                ownReverts(each.at - GIVE_UP_MS).length === 0,
            );
            if (isGivenUp && Date.now() - at > GIVE_UP_MS) forget();
            continue;
          }
          // It can have joined an update that had reverted before.
          const before = ownReverts(at - boundMs);
          if (before.length >= MAX_REVERTS && before.some(({ isHopeless }) => isHopeless)) {
            forget();
            continue;
          }
          const detail = `${life.id} accepted ${key} of round ${promised.round} (${promised.hash}); it is not stored`;
          world.violate("lost update", id, detail);
        }
      }
    },
  };
};

/** Problems that say what is wrong elsewhere. A signer is the operator's own: who asks while it is silent waits with others. */
const FAILURES = ["rpc_failed", "rpc_timeout", "no_quorum", "update_reverted", "internal_error"];

/** While others make up for what fails, requests succeed. */
const requestsSucceed: Invariant = (world) => ({
  atBlock() {
    for (const { id, life, key, isCalm, outcome } of world.asked) {
      if (outcome === null || !FAILURES.includes(outcome) || world.isFailing(hashOf(key))) continue;
      if (isCalm) world.violate("request failed", id, `${life.id} answered ${outcome} to the request for ${key}`);
    }
  },
});

/** Whoever asks for an update gets a round that is no older than the question. */
const answersAreNew: Invariant = (world) => ({
  atBlock() {
    // When a clock is set back, newer rounds are older.
    if (world.options.faults.some(({ name }) => name === "clock-set")) return;
    for (const { id, life, key, from, round } of world.asked)
      if (round !== null && round < from)
        world.violate("old answer", id, `${life.id} answered round ${round} to the request for ${key} at ${from}`);
  },
});

/** Until then every endpoint shows a block, and what was decided before has arrived. */
const SHOWN_MS = 2_000;

/** Without faults, a feed that nobody asks for is not stored again before its minimum interval. */
const intervalsAreKept: Invariant = (world) => {
  const feedOf = new Map(world.feeds.map((feed) => [hashOf(feed), feed]));
  const storedAt = new Map<Hex, number>();
  const askedAt = (feed: string) => world.asks.findLast(({ key }) => key === feed)?.at ?? 0;
  return {
    atBlock() {
      if (world.options.faults.length > 0) return;
      const { parent, receipts } = world.chain.head;
      for (const { transaction, events } of receipts) {
        for (const { keyHash, round } of events) {
          const feed = feedOf.get(keyHash);
          const before = parent?.state.points.get(keyHash)?.round ?? 0n;
          const isAsked = feed === undefined || Date.now() - askedAt(feed) < 60_000;
          // Its sender had an endpoint that did not show the block with the round before.
          const isBlind = transaction.arrivesAt < (storedAt.get(keyHash) ?? 0) + SHOWN_MS;
          storedAt.set(keyHash, Date.now());
          // An operator that is alone sees the age by its clock, behind which a round lies.
          if (isAsked || isBlind || round - before >= BigInt(MIN_INTERVAL_SECONDS - 3)) continue;
          world.violate("stored too soon", `${feed} ${round}`, `${feed}: round ${round} after ${before}`);
        }
      }
    },
  };
};

/** Every request is answered. */
const requestsAreAnswered = (world: FeedsWorld): Check => {
  const answeredWithin = (ms: number) => {
    for (const { id, life, key, at, answeredAt } of world.asked) {
      const age = Date.now() - at;
      if (answeredAt !== null || !life.isAlive || age < ms) continue;
      world.violate("request hangs", id, `${life.id} has not answered the request for ${key} of ${age / 1000} s ago`);
    }
  };
  return { atBlock: () => answeredWithin(120_000), atEnd: () => answeredWithin(0) };
};

/** Rounds never go back. */
const roundsAdvance = (world: FeedsWorld): Check => ({
  atBlock() {
    const { parent } = world.chain.head;
    for (const { keyHash, round } of world.mined.flatMap(({ events }) => events)) {
      const before = parent?.state.points.get(keyHash)?.round ?? 0n;
      if (round <= before) world.violate("round went back", keyHash, `${keyHash}: ${round} after ${before}`);
    }
  },
});

/** What is stored is what the market said, within the tolerance: no minority of the committee can move it. */
const valuesAreTrue: Invariant = (world) => {
  const feedOf = new Map(world.feeds.map((feed) => [hashOf(feed), feed]));
  return {
    atBlock() {
      for (const { keyHash, round, value, status } of world.mined.flatMap(({ events }) => events)) {
        const feed = feedOf.get(keyHash);
        if (feed === undefined) continue;
        const price = world.market.priceOf(stringToHex(feed), Number(round));
        const difference = BigInt(value) - price;
        if (status === 1 && difference * difference * 10_000n <= price * price) continue;
        world.violate(
          "wrong value",
          `${feed} ${round}`,
          `${feed} of round ${round}: ${BigInt(value)} (status ${status}), not ${price}`,
        );
      }
    },
  };
};

/** An operator checks what members sign before it asks the chain: the dataset refuses no update for its signatures. */
const signaturesAreChecked = (world: FeedsWorld): Check => ({
  atBlock() {
    for (const error of world.chain.refusedCalls)
      if (["NoQuorum", "WrongCommittee", "WrongMedian"].includes(error))
        world.violate("unsigned update", error, `a node was asked for an update that the dataset refuses: ${error}`);
  },
});

/** Whoever asks for a key in one round shares the reports with the others. */
const questionsAreShared: Invariant = (world) => {
  const asked = new LRUCache<string, number>({ max: 2_000 });
  return {
    atBlock() {
      // What has failed may be asked for again.
      if (world.options.faults.some(({ group }) => group !== "requests")) return;
      for (const question of world.questions) {
        const times = (asked.get(question) ?? 0) + 1;
        asked.set(question, times);
        if (times > 1) world.violate("asked again", question, question);
      }
    },
  };
};

/** The longest quarantine of an endpoint, and the checks before and after it. */
const ENDPOINT_RECOVERY_MS = 75_000;

/** An endpoint that answers again is used again. */
const endpointsAreUsedAgain: Invariant = (world) => {
  let goodSince = Date.now();
  return {
    atBlock() {
      const isClockSet = world.operators.some(({ clockOffsetMs }) => clockOffsetMs !== 0);
      if (isClockSet || world.endpoints.some(({ isFailing }) => isFailing)) goodSince = Date.now();
      // A fault can be shorter than a block.
      goodSince = Math.max(goodSince, ...world.endpoints.map(({ failedAt }) => failedAt));
      for (const { life } of world.operators) {
        const since = Math.max(goodSince, life?.startedAt ?? 0);
        if (life?.app == null || Date.now() - since < ENDPOINT_RECOVERY_MS) continue;
        for (const { client } of life.networks?.values() ?? [])
          for (const { endpoint, ready } of client.endpoints())
            if (!ready)
              world.violate("endpoint not used", `${life.id} ${endpoint}`, `${life.id} does not use ${endpoint}`);
      }
    },
  };
};

/** Those that hold whoever signs. */
export const INVARIANTS_OF_FEEDS = [feedsAreFresh, requestsAreAnswered, roundsAdvance, signaturesAreChecked];

export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  ...{
    feedsAreFresh,
    movesAreStored,
    requestsSucceed,
    answersAreNew,
    promisesAreKept,
    requestsAreAnswered,
    roundsAdvance,
    valuesAreTrue,
  },
  ...{ intervalsAreKept, signaturesAreChecked, questionsAreShared, endpointsAreUsedAgain },
  ...TRANSACTION_INVARIANTS,
};
