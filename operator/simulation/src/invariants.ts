import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { LRUCache } from "lru-cache";
import { type Hex, keccak256, stringToHex } from "viem";
import { nonceOf, type Receipt, type Transaction } from "./chain/chain.js";
import { BEAT_SECONDS, DEVIATION_BPS, GAS_PER_HOUR, MIN_INTERVAL_SECONDS, STUCK_SECONDS, type World } from "./world.js";

/** What must hold: looked at after every block, and at the end. */
export interface Check {
  atBlock?(): void;
  /** When the faults have ended long ago, nobody has asked for anything for a while, and the operators still run. */
  atEnd?(): void;
}

/** Makes the check of one invariant. It reports by `world.violate`. */
export type Invariant = (world: World) => Check;

/** Until then every feed has been stored for the first time. */
const SETTLED_MS = 100_000;
const HOUR_MS = 3_600_000;
/** How much later than its heartbeat a feed may be stored. */
const LATE_SECONDS = 10;

const hashOf = (key: string): Hex => keccak256(stringToHex(key));

/** Every feed is within its heartbeat and ten seconds. */
const feedsAreFresh: Invariant = (world) => {
  const late = new Set<string>();
  return {
    atBlock() {
      if (world.nowMs < SETTLED_MS || world.excuses.length > 0) return;
      const { points } = world.chain.head.state;
      for (const feed of world.feeds) {
        const age = Date.now() / 1000 - Number(points.get(hashOf(feed))?.round ?? 0n);
        if (age <= world.options.heartbeatSeconds + LATE_SECONDS) {
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
        if (!hasMoved) since.delete(feed);
        else if (!since.has(feed)) since.set(feed, world.calmMs);
        else if (world.calmMs - (since.get(feed) ?? 0) > boundMs) {
          const detail = `${feed} is ${price}, and ${before} is stored since round ${stored?.round}`;
          world.violate("move not stored", `${feed} ${stored?.round}`, detail);
        }
      }
    },
  };
};

/** An accepted broadcast ends with its round or a newer one stored. */
const promisesAreKept: Invariant = (world) => {
  const boundMs = 4 * STUCK_SECONDS * 1_000;
  const promisedAt = new Map<number, number>();
  return {
    atBlock() {
      const { points } = world.chain.head.state;
      const { asked } = world;
      for (let i = asked.length - 1; i >= 0; i--) {
        const one = asked[i];
        if (one === undefined) continue;
        const { id, life, key, promised, answeredAt } = one;
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
          else promisedAt.set(id, world.calmMs);
        } else {
          if (!promisedAt.has(id)) promisedAt.set(id, world.calmMs);
          const waitedMs = world.calmMs - (promisedAt.get(id) ?? 0);
          if (waitedMs <= boundMs) continue;
          const detail = `${life.id} accepted ${key} of round ${promised.round} (${promised.hash}); it is not stored`;
          world.violate("lost update", id, detail);
        }
      }
    },
  };
};

/** Every request is answered. */
const requestsAreAnswered: Invariant = (world) => ({
  atBlock() {
    for (const { id, life, key, at, answeredAt } of world.asked) {
      if (answeredAt !== null || !life.isAlive || Date.now() - at < 120_000) continue;
      world.violate(
        "request hangs",
        id,
        `${life.id} has not answered the request for ${key} of ${(Date.now() - at) / 1000} s ago`,
      );
    }
  },
});

/** A nonce that is left out is filled soon, and none stays unmined for long. */
const noncesAdvance: Invariant = (world) => {
  const since = new Map<string, { readonly nonce: number; readonly isGap: boolean; readonly calmMs: number }>();
  const [gapMs, stuckMs] = [2 * STUCK_SECONDS * 1_000, 4 * STUCK_SECONDS * 1_000];
  return {
    atBlock() {
      for (const { account, life, isSignerSilent } of world.operators) {
        const { address } = account;
        const nonce = nonceOf(world.chain.head.state, address);
        const pooled = [...(world.chain.pool.get(address)?.keys() ?? [])].filter((one) => one >= nonce);
        const known = since.get(address);
        const isGap = !pooled.includes(nonce);
        if (pooled.length === 0 || life === null || isSignerSilent || known?.nonce !== nonce || known.isGap !== isGap) {
          since.set(address, { nonce, isGap, calmMs: world.calmMs });
          continue;
        }
        const waitedMs = world.calmMs - known.calmMs;
        if (waitedMs <= (isGap ? gapMs : stuckMs)) continue;
        const balance = world.chain.head.state.balances.get(address) ?? 0n;
        if (balance < 10n ** 17n) continue;
        const kind = isGap ? "nonce gap" : "stuck nonce";
        world.violate(
          kind,
          `${address} ${nonce}`,
          `${life.id}: nonce ${nonce} for ${waitedMs / 1000} s; it has ${pooled.join(", ")}`,
        );
      }
    },
  };
};

/** What a transaction updates: each key with the round. */
const updated = new LRUCache<Hex, readonly string[]>({ max: 2_000 });
function updatesOf({ hash, data }: Transaction): readonly string[] {
  const known = updated.get(hash);
  if (known !== undefined) return known;
  const call = decodeUpdateCall(data);
  const keys = call === null ? [] : call.kind === "update" ? [keccak256(call.key)] : call.keyHashes;
  const ids = keys.map((key) => `${key} ${call?.round}`);
  updated.set(hash, ids);
  return ids;
}

/** No round of a key is in flight under two nonces of one operator. */
const roundsHaveOneNonce: Invariant = (world) => ({
  atBlock() {
    for (const { account, life } of world.operators) {
      const nonce = nonceOf(world.chain.head.state, account.address);
      const nonces = new Map<string, number>();
      for (const transaction of world.chain.pool.get(account.address)?.values() ?? []) {
        if (transaction.nonce < nonce) continue;
        for (const id of updatesOf(transaction)) {
          const other = nonces.get(id);
          if (other !== undefined) {
            const detail = `${life?.id}: ${id} is in flight under nonces ${other} and ${transaction.nonce}`;
            world.violate("round in flight twice", `${account.address} ${id}`, detail);
          }
          nonces.set(id, transaction.nonce);
        }
      }
    }
  },
});

/** Rounds never go back. */
const roundsAdvance: Invariant = (world) => ({
  atBlock() {
    const { parent, receipts } = world.chain.head;
    for (const { keyHash, round } of receipts.flatMap(({ events }) => events)) {
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
      for (const { keyHash, round, value, status } of world.chain.head.receipts.flatMap(({ events }) => events)) {
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

/** What is mined in any hour is within the budgets of its operator. */
const gasIsWithinBudgets: Invariant = (world) => {
  const mined = new Map<string, { readonly at: number; readonly gas: number }[]>();
  // The default budgets for new keys and for feeds, beside that of requests.
  const budget = GAS_PER_HOUR + 3_000_000 + 30_000_000;
  const owner = new Map(world.operators.map(({ account }) => [account.address, mined]));
  return {
    atBlock() {
      for (const { transaction, gasUsed } of world.chain.head.receipts) {
        const { from } = transaction;
        if (!owner.has(from)) continue;
        const list = (mined.get(from) ?? []).filter(({ at }) => Date.now() - at < HOUR_MS);
        list.push({ at: Date.now(), gas: Number(gasUsed) });
        mined.set(from, list);
        const sum = list.reduce((all, { gas }) => all + gas, 0);
        if (sum > budget) world.violate("gas above budget", from, `${from} used ${sum} gas in an hour`);
      }
    },
  };
};

/** Without faults, hardly a transaction is sent in vain. */
const fewTransactionsAreUseless: Invariant = (world) => {
  const outcomes: Receipt["outcome"][] = [];
  return {
    atBlock() {
      outcomes.push(...world.chain.head.receipts.map(({ outcome }) => outcome));
    },
    atEnd() {
      if (world.options.faults.length > 0) return;
      const stored = outcomes.filter((one) => one === "stored").length;
      const all = outcomes.length;
      if (all > 1.05 * stored + 1)
        world.violate("useless transactions", "", `${all} transactions stored ${stored} times`);
    },
  };
};

/** When nothing is asked, nothing is left over. */
const queuesAreEmpty: Invariant = (world) => ({
  atEnd() {
    for (const { life } of world.operators) {
      for (const network of life?.networks?.values() ?? []) {
        for (const { depth, address } of network.senders.queues) {
          if (depth.waiting > 0 || depth.sent > 2)
            world.violate("queue not empty", address, `${life?.id}: ${depth.waiting} wait, ${depth.sent} are pending`);
        }
      }
    }
  },
});

export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  ...{ feedsAreFresh, movesAreStored, promisesAreKept, requestsAreAnswered, noncesAdvance, roundsHaveOneNonce },
  ...{ roundsAdvance, valuesAreTrue, gasIsWithinBudgets, fewTransactionsAreUseless, queuesAreEmpty },
};
