import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GasBudget } from "./gas-budget.js";
import { planActions, type QueueAction } from "./plan.js";
import { Task, type Transaction } from "./task.js";

const LIMITS = { stuckMs: 1_000, unseenMs: 100, maxPending: 4 };
const NOW = 50_000;
const NEVER = Number.POSITIVE_INFINITY;

const CALL = {
  to: "0x1111111111111111111111111111111111111111",
  data: "0x",
  gas: 1n,
  round: 1n,
  expiresAt: NEVER,
} as const;

const CHARGE = new GasBudget({ monotonic: () => NOW }, { perHour: 0n }).open();

const taskOf = (key: string, payer: string | null = null, isUrgent = () => false): Task => {
  const subject = { dataset: CALL.to, keys: [`0x${key}`], accused: null } as const;
  const work = { renew: async () => null, isStored: async () => false, isUrgent };
  return new Task({ ...work, subject, payer, charge: CHARGE, call: CALL }, null);
};

const tx = (nonce: number, change: Partial<Transaction> = {}): Transaction => ({
  nonce,
  task: taskOf(`K${nonce}`),
  versions: [],
  sentAt: NOW,
  submittedAt: NOW,
  isAccepted: true,
  expiresAt: NEVER,
  fees: { type: "legacy", maxFeePerGas: 1n, maxPriorityFeePerGas: 0n },
  charge: CHARGE,
  notFoundSince: null,
  renewal: null,
  ...change,
});
const STUCK = { sentAt: NOW - 1_000 };
const UNSEEN = { submittedAt: NOW - 100 };
const EXPIRED = { expiresAt: NOW };
const UNDERPRICED = { fees: { type: "legacy", maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } } as const;
const MARKET = { type: "eip1559", baseFee: 1n, priorityFee: 0n } as const;

/** By default the chain shows five transactions, all mined. */
interface Situation {
  readonly mined?: number;
  readonly pending?: number;
  readonly sent?: Transaction[];
  readonly foreign?: [number, number][];
  readonly waiting?: number;
}

/** The updates that wait for a nonce, the oldest first. */
const TASKS = Array.from({ length: 9 }, (_, i) => taskOf(`T${i}`));

const submit = (nonce: number, task = TASKS[0] as Task) => ({ kind: "submit", nonce, task }) as const;
const replace = (nonce: number, content: "newest" | "same" | "cancel") =>
  ({ kind: "replace", nonce, content }) as const;
/** Followed by another transaction of the same key. */
const K = { task: taskOf("K") };

const plan = ({ mined = 5, pending = 5, sent = [], foreign = [], waiting = 0 }: Situation) =>
  planActions({
    counts: { mined, pending },
    sent,
    foreign: new Map(foreign),
    waiting: TASKS.slice(0, waiting),
    networkFees: MARKET,
    now: NOW,
    timeOfDay: NOW,
    limits: LIMITS,
  });

test.each<[string, Situation, QueueAction[]]>([
  ["nothing is done when there is nothing to do", {}, []],
  ["an update takes the first free nonce", { waiting: 1 }, [submit(5)]],
  [
    "an update takes the nonce after transactions that the node does not show yet",
    { sent: [tx(5)], waiting: 1 },
    [submit(6)],
  ],
  [
    "an update takes the nonce after foreign transactions",
    { pending: 7, foreign: [[5, NOW]], waiting: 1 },
    [submit(7)],
  ],
  ["no more than maxPending are pending", { pending: 8, sent: [tx(5), tx(6), tx(7)], waiting: 9 }, [submit(8)]],
  [
    "transactions whose nonce the chain has used are confirmed",
    { mined: 7, pending: 7, sent: [tx(5), tx(6)], waiting: 1 },
    [{ kind: "confirm", nonce: 5 }, { kind: "confirm", nonce: 6 }, submit(7)],
  ],
  ["a transaction that was just sent is waited for", { sent: [tx(5)] }, []],
  [
    "a transaction that the chain does not show is rebroadcast",
    { sent: [tx(5, UNSEEN)] },
    [{ kind: "rebroadcast", nonce: 5 }],
  ],
  [
    "a transaction that the RPC did not acknowledge is rebroadcast at once",
    { sent: [tx(5, { isAccepted: false })], waiting: 1 },
    [{ kind: "rebroadcast", nonce: 5 }, submit(6)],
  ],
  ["a stuck transaction is replaced by the newest round", { pending: 6, sent: [tx(5, STUCK)] }, [replace(5, "newest")]],
  [
    "those after it wait, unless their fees are too low",
    { pending: 8, sent: [tx(5, STUCK), tx(6, STUCK), tx(7, { ...STUCK, ...UNDERPRICED })] },
    [replace(5, "newest"), replace(7, "newest")],
  ],
  [
    "one that a newer round of its key follows is sent again with the same call",
    { pending: 7, sent: [tx(5, { ...STUCK, ...K }), tx(6, K)] },
    [replace(5, "same")],
  ],
  [
    "one that a newer round of its key follows is cancelled when its round is too old",
    { pending: 7, sent: [tx(5, { ...STUCK, ...EXPIRED, ...K }), tx(6, K)] },
    [replace(5, "cancel")],
  ],
  [
    "a stuck cancellation is replaced by another",
    { pending: 6, sent: [tx(5, { ...STUCK, task: null })] },
    [replace(5, "cancel")],
  ],
  [
    "one that no node has and that is too old is forgotten, and its nonce is free",
    { sent: [tx(5, { ...UNSEEN, ...EXPIRED })], waiting: 1 },
    [{ kind: "forget", nonce: 5 }, submit(5)],
  ],
  [
    "one that is too old is not forgotten when others follow it",
    { sent: [tx(5, { ...UNSEEN, ...EXPIRED }), tx(6)] },
    [replace(5, "newest")],
  ],
  ["a nonce gap is filled by a waiting update", { sent: [tx(6)], waiting: 1 }, [submit(5)]],
  ["a nonce gap is filled by a cancellation when no update waits", { sent: [tx(6)] }, [{ kind: "cancel", nonce: 5 }]],
  ["one that the chain shows is not rebroadcast", { pending: 6, sent: [tx(5, UNSEEN)] }, []],
  ["one that is too old and shown is waited for", { pending: 6, sent: [tx(5, EXPIRED)], waiting: 1 }, [submit(6)]],
  [
    "one that was not shown for too short a time is waited for",
    { sent: [tx(5, { submittedAt: NOW - 99 }), tx(6)] },
    [],
  ],
  [
    "one that follows an older round of its key is replaced by the newest round",
    { pending: 7, sent: [tx(5, K), tx(6, { ...STUCK, ...UNDERPRICED, ...K })] },
    [replace(6, "newest")],
  ],
  ["a foreign transaction that was just seen is waited for", { pending: 6 }, []],
  ["foreign transactions are waited for", { pending: 6, foreign: [[5, NOW - 999]] }, []],
  [
    "a stuck foreign transaction is cancelled",
    { pending: 6, foreign: [[5, NOW - 1_000]] },
    [{ kind: "cancel", nonce: 5 }],
  ],
])("%s", (_, situation, actions) => {
  expect(plan(situation)).toEqual(actions);
});

describe("whatever the chain shows", () => {
  const situation = fc.record({
    mined: fc.integer({ min: 0, max: 6 }),
    ahead: fc.integer({ min: 0, max: 6 }),
    sent: fc.uniqueArray(
      fc
        .record({
          nonce: fc.integer({ min: 0, max: 12 }),
          task: fc.constantFrom(taskOf("A"), taskOf("B"), null),
          sentAt: fc.constantFrom(NOW, NOW - 1_000),
          submittedAt: fc.constantFrom(NOW, NOW - 100),
          isAccepted: fc.boolean(),
          expiresAt: fc.constantFrom(NOW, NEVER),
          fees: fc.constantFrom(UNDERPRICED.fees, tx(0).fees),
        })
        .map((shown) => tx(shown.nonce, shown)),
      { selector: ({ nonce }) => nonce, maxLength: 8 },
    ),
    waiting: fc.integer({ min: 0, max: 6 }),
  });

  const check = (seed: number, holds: (shown: ReturnType<typeof outcomeOf>) => void) =>
    fc.assert(
      fc.property(situation, (one) => holds(outcomeOf(one))),
      { seed, numRuns: 400 },
    );
  type ShownByNode = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;
  const outcomeOf = ({ mined, ahead, sent, waiting }: ShownByNode) => {
    const actions = plan({ mined, pending: mined + ahead, sent, waiting });
    const noncesOf = (...kinds: QueueAction["kind"][]) =>
      actions.filter(({ kind }) => kinds.includes(kind)).map(({ nonce }) => nonce);
    const forgotten = noncesOf("forget");
    const kept = sent.map(({ nonce }) => nonce).filter((nonce) => nonce >= mined && !forgotten.includes(nonce));
    return { mined, ahead, pending: mined + ahead, waiting, actions, noncesOf, forgotten, kept };
  };

  test("each nonce gets one action, used nonces get no transaction, and no gap is left", () => {
    check(1, ({ mined, pending, actions, noncesOf, kept }) => {
      const acted = actions.filter(({ kind }) => kind !== "forget").map(({ nonce }) => nonce);
      expect(new Set(acted).size).toBe(acted.length);
      for (const { kind, nonce } of actions) expect(kind === "confirm" ? nonce < mined : nonce >= mined).toBe(true);
      const all = new Set([...kept, ...noncesOf("submit", "cancel")]);
      const end = Math.max(pending, ...[...all].map((nonce) => nonce + 1));
      for (let nonce = pending; nonce < end; nonce++) expect(all.has(nonce)).toBe(true);
    });
  });

  test("an update is only sent to a free nonce, and all that fit are sent", () => {
    check(2, ({ mined, ahead, pending, waiting, noncesOf, forgotten, kept }) => {
      const sends = noncesOf("submit");
      for (const nonce of sends) {
        expect(nonce).toBeGreaterThanOrEqual(forgotten.includes(nonce) ? mined : pending);
        expect(kept).not.toContain(nonce);
      }
      expect(sends.length).toBeLessThanOrEqual(waiting);
      if (waiting === sends.length) return;
      const shown = Array.from({ length: ahead }, (_, i) => mined + i);
      expect(new Set([...shown, ...kept]).size + sends.length).toBeGreaterThanOrEqual(LIMITS.maxPending);
    });
  });
});

describe("the updates that wait", () => {
  const orderOf = (waiting: Task[], sent: Transaction[] = []) => {
    const actions = planActions({
      ...{ counts: { mined: 0, pending: sent.length }, sent, waiting },
      ...{ foreign: new Map(), networkFees: MARKET, now: NOW, timeOfDay: NOW, limits: { ...LIMITS, maxPending: 9 } },
    });
    return actions.flatMap((action) => (action.kind === "submit" ? action.task.work.subject.keys : []));
  };

  test("go in the order in which they came", () => {
    expect(orderOf([taskOf("1", "a"), taskOf("2", "b"), taskOf("3", "c")])).toEqual(["0x1", "0x2", "0x3"]);
  });

  test("of feeds go before those of callers", () => {
    expect(orderOf([taskOf("1", "a"), taskOf("feed", null), taskOf("2", "b")])).toEqual(["0xfeed", "0x1", "0x2"]);
  });

  test("of callers go with those of feeds while a feed waits for them, too", () => {
    const joined = taskOf("2", "b", () => true);
    expect(orderOf([taskOf("1", "a"), taskOf("feed", null), joined])).toEqual(["0xfeed", "0x2", "0x1"]);
  });

  test("of a caller with many wait for those of callers with few, pending ones included", () => {
    const many = [taskOf("a1", "a"), taskOf("a2", "a"), taskOf("b1", "b"), taskOf("b2", "b")];
    expect(orderOf(many)).toEqual(["0xa1", "0xb1", "0xa2", "0xb2"]);
    expect(orderOf(many, [tx(0, { task: taskOf("a0", "a") })])).toEqual(["0xb1", "0xa1", "0xb2", "0xa2"]);
  });
});
