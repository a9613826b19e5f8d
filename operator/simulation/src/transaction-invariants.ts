/** What must hold of the transactions of operators. */

import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { LRUCache } from "lru-cache";
import { type Address, type Hex, hexToString, keccak256 } from "viem";
import { type ChainTransaction, nonceOf, type Receipt } from "./chain/chain.js";
import type { Invariant } from "./invariant.js";
import { hashOf } from "./keys.js";
import type { Life, OperatorMachine } from "./operator-process.js";
import { STUCK_SECONDS, type World } from "./world.js";

const HOUR_MS = 3_600_000;
/** From this age on the dataset refuses a round. */
const MAX_ROUND_AGE_SECONDS = 300;
/** After how many reverts an operator gives an update up. */
export const MAX_REVERTS = 3;

export const machineOf = (world: World, { from }: Pick<ChainTransaction, "from">): OperatorMachine | undefined =>
  world.operators.find(({ accounts }) => accounts.some(({ address }) => address === from));

/** Reports whether a sender cannot pay for what it has to send. */
export const isPoor = ({ chain }: World, { address }: { readonly address: Address }): boolean =>
  (chain.head.state.balances.get(address) ?? 0n) < 10n ** 17n;

/** The senders of all operators, each with what its operator is doing. */
const sendersOf = (world: World) =>
  world.operators.flatMap((machine) => {
    const { accounts, life, lives, isSignerSilent } = machine;
    return accounts.map(({ address }) => ({ address, life, lives, isSignerSilent, now: machine.now() }));
  });

/** A nonce that is left out is filled soon, and none stays unmined for long. */
const noncesAdvance: Invariant = (world) => {
  const since = new Map<string, { readonly nonce: number; readonly isGap: boolean; readonly calmMs: number }>();
  const [gapMs, stuckMs] = [10_000 + 2 * world.options.blockMs, 4 * STUCK_SECONDS * 1_000];
  /** Too old by their senders' clocks, which can be wrong: where nodes do not count these, their nonces are free. */
  const expired = new WeakSet<ChainTransaction>();
  return {
    atBlock() {
      const { chain } = world;
      for (const { address, life, isSignerSilent, now } of sendersOf(world)) {
        const nonce = nonceOf(chain.head.state, address);
        const all = [...(chain.pool.get(address)?.values() ?? [])].filter((one) => one.nonce >= nonce);
        for (const one of all) {
          const round = updatesOf(one)?.round;
          if (round !== undefined && now / 1_000 - Number(round) >= MAX_ROUND_AGE_SECONDS) expired.add(one);
        }
        const shown = chain.shownOf(address, chain.head);
        const isCounted = shown.some((one) => one.nonce === nonce);
        const pooled = all.filter((one) => isCounted || !expired.has(one)).map((one) => one.nonce);
        const known = since.get(address);
        const isGap = !isCounted && shown.some((one) => !expired.has(one));
        const canSend = life?.app != null && !isSignerSilent && !isPoor(world, { address });
        if (pooled.length === 0 || !canSend || known?.nonce !== nonce || known.isGap !== isGap) {
          since.set(address, { nonce, isGap, calmMs: world.queueCalmMs });
          continue;
        }
        const waitedMs = world.queueCalmMs - known.calmMs;
        if (waitedMs <= (isGap ? gapMs : stuckMs)) continue;
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

interface UpdatedKeys {
  readonly keyHashes: readonly Hex[];
  readonly round: bigint;
}

/** What a transaction updates; null for one that is no update. */
const decoded = new LRUCache<Hex, { readonly updates: UpdatedKeys | null }>({ max: 2_000 });
export function updatesOf({ hash, data }: Pick<ChainTransaction, "hash" | "data">): UpdatedKeys | null {
  const known = decoded.get(hash);
  if (known !== undefined) return known.updates;
  const call = decodeUpdateCall(data);
  const keyHashes = call === null ? [] : call.kind === "update" ? [keccak256(call.key)] : call.keyHashes;
  const updates = call && { keyHashes, round: call.round };
  decoded.set(hash, { updates });
  return updates;
}

/** No process gives a round of a key two nonces, as long as the first can still store it. */
const roundsHaveOneNonce: Invariant = (world) => {
  const first = new LRUCache<string, Pick<ChainTransaction, "from" | "nonce" | "hash"> & { readonly lifeId: string }>({
    max: 5_000,
  });
  return {
    atBlock() {
      const { chain } = world;
      for (const { transaction, refusal } of chain.arrivals) {
        const { nonce, hash, from } = transaction;
        const machine = machineOf(world, transaction);
        const life = machine?.life;
        const updates = refusal === null ? updatesOf(transaction) : null;
        if (life == null || updates === null) continue;
        for (const keyHash of updates.keyHashes) {
          const id = `${machine?.index} ${keyHash} ${updates.round}`;
          const before = first.get(id);
          first.set(id, { from, nonce, hash, lifeId: life.id });
          if (before === undefined || before.lifeId !== life.id) continue;
          if (before.nonce === nonce && before.from === from) continue;
          const pooled = chain.pool.get(before.from)?.get(before.nonce);
          const receipt = chain.findReceipt(chain.head, before.hash)?.receipt;
          const canStore =
            pooled?.hash === before.hash || receipt?.outcome === "stored" || receipt?.outcome === "useless";
          if (!canStore) continue;
          const detail = `${life.id}: round ${updates.round} of ${keyHash} has the nonces ${before.nonce} and ${nonce}`;
          world.violate("round sent twice", id, detail);
        }
      }
    },
  };
};

/** Follows which operators can know by their clocks how old a round is. Its function is called at each block. */
function followClocks({ operators }: World) {
  const setAt = new Map<OperatorMachine, number>();
  return () => {
    const seconds = Date.now() / 1_000;
    for (const one of operators) if (one.clockOffsetMs !== 0) setAt.set(one, seconds);
    return (one: OperatorMachine) => seconds - (setAt.get(one) ?? 0) > 2 * MAX_ROUND_AGE_SECONDS;
  };
}

/** Nothing is given to the nodes whose round the dataset refuses as too old. */
const expiredRoundsAreNotSent: Invariant = (world) => {
  const follow = followClocks(world);
  return {
    atBlock() {
      const [seconds, isClockRight] = [Date.now() / 1_000, follow()];
      for (const { transaction, refusal } of world.chain.arrivals) {
        const machine = machineOf(world, transaction);
        const updates = updatesOf(transaction);
        if (machine === undefined || updates === null || (refusal !== null && refusal !== "already known")) continue;
        const age = seconds - Number(updates.round);
        // It was sent before the block.
        if (!isClockRight(machine) || age - world.options.blockMs / 1_000 <= MAX_ROUND_AGE_SECONDS + 5) continue;
        world.violate("expired round sent", transaction.hash, `operator ${machine.index}: ${age} s old`);
      }
    },
  };
};

/** Whoever replaces a transaction of its own offers so much more that nodes take it. */
const replacementsAreTaken: Invariant = (world) => {
  const follow = followClocks(world);
  return {
    atBlock() {
      const isClockRight = follow();
      for (const { transaction, before, refusal } of world.chain.arrivals) {
        const machine = machineOf(world, transaction);
        if (machine?.life == null || before === undefined || before.arrivesAt < machine.life.startedAt) continue;
        if (refusal !== "replacement transaction underpriced" || !isClockRight(machine)) continue;
        // It can have forgotten one that is too old for the next block, and behind a gap, where nodes do not count it.
        const round = updatesOf(before)?.round;
        const nextBlock = (Date.now() + world.options.blockMs) / 1_000;
        if (round !== undefined && nextBlock - Number(round) > MAX_ROUND_AGE_SECONDS) continue;
        world.violate("replacement refused", transaction.hash, `${machine.life.id}: nonce ${transaction.nonce}`);
      }
    },
  };
};

/** Only what has become of a transaction counts: without a reorganization none was dropped, and no other has its nonce. */
const nothingIsTakenForLost: Invariant = (world) => {
  /** The transactions of each operator's first process that came when the chain had used their nonces. */
  const late = new Map<OperatorMachine, Set<Hex>>(world.operators.map((one) => [one, new Set()]));
  return {
    atBlock() {
      // Where both endpoints show no receipts, nobody can know.
      if (world.chain.reorganizations > 0 || world.options.faults.some(({ name }) => name === "rpc-lies")) return;
      for (const { transaction, refusal, isLate } of world.chain.arrivals) {
        const machine = machineOf(world, transaction);
        if (machine !== undefined && isLate && refusal === null) late.get(machine)?.add(transaction.hash);
      }
      for (const machine of world.operators) {
        const { life, lives } = machine;
        for (const network of life?.networks?.values() ?? []) {
          for (const { counts } of network.senders.queues) {
            if (counts.reorged > 0) world.violate("no reorganization", life?.id, `${life?.id} has seen one`);
            // An earlier process can have used a nonce.
            if (lives === 1 && counts.lost > (late.get(machine)?.size ?? 0))
              world.violate("not lost", life?.id, `${life?.id} counts ${counts.lost} as lost`);
          }
        }
      }
    },
  };
};

export const isReverted = ({ outcome }: Receipt) => outcome === "reverted" || outcome === "out of gas";

/** An update on request is given up after a few reverts: in all, no more than what was asked for explains. */
const revertsEnd: Invariant = (world) => {
  const names = new Map(world.others.map((key) => [hashOf(key), key]));
  const reverts = new Map<string, number>();
  return {
    atBlock() {
      for (const receipt of world.mined) {
        const [keyHash] = updatesOf(receipt.transaction)?.keyHashes ?? [];
        const machine = machineOf(world, receipt.transaction);
        const key = keyHash && names.get(keyHash);
        if (!isReverted(receipt) || machine === undefined || key === undefined) continue;
        const id = `${machine.index} ${keyHash}`;
        const count = (reverts.get(id) ?? 0) + 1;
        reverts.set(id, count);
        const asked = world.asks.filter((one) => one.machine === machine && one.key === key);
        // Each process begins the count anew.
        if (count <= MAX_REVERTS * (asked.length + machine.lives - 1)) continue;
        world.violate("reverts without end", id, `operator ${machine.index}: ${count} reverts of ${key}`);
      }
    },
  };
};

/** What is mined in any hour is within the budgets of whoever pays for it, in each life of an operator. */
const gasIsWithinBudgets: Invariant = (world) => {
  const { gasPerHour, gasPerHourForNewKeys, gasPerHourForFeeds } = world.gas;
  const others = new Set(world.others.map(hashOf));
  // Callers ask for the keys of feeds, too, but nobody else for other keys. A cancellation can be anybody's.
  const budgets = {
    "other keys": gasPerHour + gasPerHourForNewKeys,
    feeds: gasPerHour + gasPerHourForFeeds,
    everything: gasPerHour + gasPerHourForNewKeys + gasPerHourForFeeds,
  };
  const mined = new Map<string, { readonly at: number; readonly gas: number }[]>();
  // What has a nonce already is charged, whatever is left, when a fault makes it cost more.
  const spare = world.options.faults.length > 1 ? 1.5 : 1;
  const charge = (machine: OperatorMachine, what: keyof typeof budgets, gas: number) => {
    const id = `operator ${machine.index}: ${what}`;
    const list = [...(mined.get(id) ?? []), { at: Date.now(), gas }].filter(({ at }) => Date.now() - at < HOUR_MS);
    mined.set(id, list);
    const used = list.reduce((sum, one) => sum + one.gas, 0);
    if (used > budgets[what] * spare * machine.lives)
      world.violate("gas above budget", id, `${id} used ${used} gas in an hour`);
  };
  return {
    atBlock() {
      for (const { transaction, gasUsed } of world.mined) {
        const machine = machineOf(world, transaction);
        if (machine === undefined) continue;
        charge(machine, "everything", Number(gasUsed));
        const [keyHash] = updatesOf(transaction)?.keyHashes ?? [];
        if (keyHash !== undefined) charge(machine, others.has(keyHash) ? "other keys" : "feeds", Number(gasUsed));
      }
    },
  };
};

/** What the pool shows of an operator's updates when it starts again gets stored. */
const pendingIsRecovered: Invariant = (world) => {
  const boundMs = 4 * STUCK_SECONDS * 1_000;
  const recovered = new WeakSet<Life>();
  const pending: { readonly life: Life; readonly keyHash: Hex; readonly round: bigint; readonly calmMs: number }[] = [];
  return {
    atBlock() {
      const { chain } = world;
      // While no endpoint answers at its start, an operator cannot read the pool.
      const isServing = (life: Life | null): life is Life => life?.app != null && (life.networks?.size ?? 0) > 0;
      const served = world.operators.flatMap(({ life }) => (isServing(life) ? [life] : []));
      for (const { life, lives, address } of sendersOf(world)) {
        if (!isServing(life) || recovered.has(life)) continue;
        let next = nonceOf(chain.head.state, address);
        for (const transaction of lives === 1 ? [] : chain.shownOf(address, chain.head)) {
          const updates = updatesOf(transaction);
          if (transaction.nonce !== next++) break;
          if (transaction.arrivesAt > life.startedAt || updates === null) continue;
          for (const keyHash of updates.keyHashes)
            pending.push({ life, keyHash, round: updates.round, calmMs: world.queueCalmMs });
        }
      }
      for (const life of served) recovered.add(life);
      for (const [index, { life, keyHash, round, calmMs }] of [...pending.entries()].reverse()) {
        const isStored = (chain.head.state.points.get(keyHash)?.round ?? 0n) >= round;
        if (isStored || !life.isAlive || world.isFailing(keyHash)) pending.splice(index, 1);
        else if (world.queueCalmMs - calmMs > boundMs)
          world.violate("not recovered", `${life.id} ${keyHash} ${round}`, `${life.id}: round ${round} of ${keyHash}`);
      }
    },
  };
};

/** Without faults, hardly a transaction is sent in vain. */
const fewTransactionsAreUseless: Invariant = (world) => {
  const outcomes: Receipt["outcome"][] = [];
  return {
    atBlock() {
      outcomes.push(...world.mined.map(({ outcome }) => outcome));
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

/** Without faults, each member has its share of the turns. */
const turnsAreShared: Invariant = (world) => {
  const sent = new Map(world.operators.map((one) => [one, 0]));
  return {
    atBlock() {
      for (const { transaction, outcome } of world.mined) {
        const machine = machineOf(world, transaction);
        if (machine !== undefined && outcome === "stored") sent.set(machine, (sent.get(machine) ?? 0) + 1);
      }
    },
    atEnd() {
      const all = [...sent.values()].reduce((sum, one) => sum + one, 0);
      if (world.options.faults.length > 0 || all < 60) return;
      for (const [{ index }, count] of sent)
        if (count < all / sent.size / 5) world.violate("no turn", index, `operator ${index} sent ${count} of ${all}`);
    },
  };
};

/** When nothing is asked, nothing is left over but what feeds need: each at most once. */
const queuesAreEmpty: Invariant = (world) => ({
  atEnd() {
    for (const { life } of world.operators) {
      for (const network of life?.networks?.values() ?? []) {
        for (const { depth, tasks, address } of network.senders.queues) {
          const keys = tasks.flatMap(({ work }) => work.subject.keys.map((key) => hexToString(key)));
          const needed = world.feeds.filter((feed) => keys.includes(feed));
          const isLeft = keys.length > needed.length || depth.sent + depth.waiting > tasks.length;
          if (isLeft) world.violate("queue not empty", address, `${life?.id}: ${depth.sent} are pending, of ${keys}`);
        }
      }
    }
  },
});

export const TRANSACTION_INVARIANTS = {
  ...{ noncesAdvance, roundsHaveOneNonce, expiredRoundsAreNotSent, replacementsAreTaken, nothingIsTakenForLost },
  ...{ revertsEnd, gasIsWithinBudgets, pendingIsRecovered, fewTransactionsAreUseless, turnsAreShared, queuesAreEmpty },
} as const satisfies Readonly<Record<string, Invariant>>;
