import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { type Address, type Hex, numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { Dataset } from "../../dataset/dataset.js";
import { rankMembers } from "../../schedule/rank.js";
import type { ServedNetwork } from "../../served-network.js";
import { SubmissionUnknown, type Task } from "../../transactions/task.js";
import { Accuser } from "./accuser.js";
import type { Contradiction, HeldStatements } from "./held-statements.js";

const DATASET = numberToHex(0xda7a, { size: 20 });
const MEMBERS = [1, 2, 3, 4, 5].map((i) => numberToHex(i, { size: 20 }));
const LIAR = MEMBERS[4] as Address;
const KEY: Hex = "0x4b31";
const ROUND = 1_790_000_000n;
const STAGE_MS = 6_000;
const ORDER = rankMembers(DATASET, { round: ROUND }, MEMBERS.slice(0, 4));

let nowMs: number;
let members: Address[];
let sent: Task[];
/** Why the dataset would refuse the accusation now; null if it would not. */
let refusal: Error | null;
/** What becomes of an accusation in its sender's queue. */
let enqueue: (task: Task) => Promise<void>;
/** The accusations that have a nonce. */
let underway: Task[];
let found: Contradiction | null;
/** What else was found. */
let others: Contradiction[];
let log: { msg: string; level: number }[];

beforeEach(() => {
  [nowMs, members, sent, refusal, log] = [Number(ROUND) * 1000, [...MEMBERS], [], null, []];
  [enqueue, underway, others] = [async () => {}, [], []];
  const committee = {
    get current() {
      return { members, toleranceBps: 100n };
    },
    refreshIfReplaced: async () => false,
  };
  const report = { kind: "report", provider: LIAR, key: KEY, round: ROUND, outcome: "OK" } as const;
  const signature: Hex = `0x${"11".repeat(64)}1b`;
  const [one, two] = ([1, 2] as const).map((value) => ({
    ...report,
    signature,
    value: numberToHex(value, { size: 32 }),
  }));
  const statements = [one, two] as unknown as Contradiction["statements"];
  const dataset = { address: DATASET, committee } as unknown as Dataset;
  found = { dataset, provider: LIAR, key: KEY, round: ROUND, foundAt: nowMs, statements };
});

function accuserOf(role: Address | "alone", canSend = true): Accuser {
  const senders = {
    canSend,
    underway,
    admit: () => ({ charge: { settle: () => {} } }),
    enqueue: async (task: Task) => {
      await enqueue(task);
      sent.push(task);
      return { hash: "0x1" };
    },
  };
  const dryRun = {
    call: async () => {
      if (refusal !== null) throw refusal;
      return { gas: 100_000n };
    },
  };
  const network = { senders, dryRun, standing: { role, members: null, stageMs: STAGE_MS } };
  const held = {
    get contradictions() {
      return [...others, ...(found === null ? [] : [found])];
    },
    settle: () => {
      found = null;
    },
  };
  const logger = pino({ level: "info" }, { write: (line: string) => log.push(JSON.parse(line)) });
  return new Accuser(
    network as unknown as ServedNetwork,
    held as unknown as HeldStatements,
    { clock: clockOf(() => nowMs) },
    logger,
  );
}

/** Lets time pass, and returns how many accusations were sent by then. */
async function sentAfter(ms: number, accuser: Accuser): Promise<number> {
  nowMs += ms;
  await accuser.pursueAll();
  return sent.length;
}

test("an operator that is alone accuses at once, and not again while its transaction is on its way", async () => {
  const accuser = accuserOf("alone");
  await accuser.pursueAll();
  expect(sent).toMatchObject([{ work: { payer: null }, call: { to: DATASET, gas: 100_000n, round: ROUND } }]);
  expect(await sentAfter(3_600_000, accuser)).toBe(1);
  // It was mined, and the member is still there.
  sent[0]?.end(null);
  await new Promise((settled) => setImmediate(settled));
  expect([await sentAfter(59_999, accuser), await sentAfter(1, accuser)]).toEqual([1, 2]);
});

test("a member that has left the committee is settled and not accused, and a replacement has nothing to do", async () => {
  const accuser = accuserOf(ORDER[1] as Address);
  await accuser.pursueAll();
  members = members.filter((member) => member !== LIAR);
  nowMs += STAGE_MS;
  await accuser.pursueAll();
  expect([sent, found, log.length]).toEqual([[], null, 2]);
});

test("the queue replaces an accusation until the member has left", async () => {
  await accuserOf("alone").pursueAll();
  const [task] = sent as [Task];
  expect(await task.work.isStored(ROUND)).toBe(false);
  expect(await task.work.renew(task)).toEqual(task.call);
  members = members.filter((member) => member !== LIAR);
  expect(await task.work.isStored(ROUND)).toBe(true);
  expect(await task.work.renew(task)).toBeNull();
});

test("an accusation that fails is tried again at the next look, and the log says once why it failed", async () => {
  refusal = new Error("it fails");
  const accuser = accuserOf("alone");
  for (let looks = 0; looks < 3; looks++) await accuser.pursueAll();
  const warnings = log.filter(({ msg, level }) => msg === "the accusation failed; it will be retried" && level === 40);
  expect(warnings).toMatchObject([{ reason: "it fails" }]);
  refusal = null;
  expect(await sentAfter(0, accuser)).toBe(1);
});

test("an accusation whose submission was unclear is not sent a second time while it may be mined", async () => {
  const accuser = accuserOf("alone");
  enqueue = async (task) => {
    underway.push(task);
    throw new SubmissionUnknown(new Error("no answer"));
  };
  await accuser.pursueAll();
  enqueue = async () => {};
  expect(await sentAfter(600_000, accuser)).toBe(0);
  underway.pop();
  expect(await sentAfter(0, accuser)).toBe(1);
});

test("an accusation that stays in its sender's queue holds up no other one", async () => {
  others = [{ ...(found as Contradiction), key: "0x4b32" }];
  let enqueued = 0;
  enqueue = () => (++enqueued === 1 ? new Promise(() => {}) : Promise.resolve());
  void accuserOf("alone").pursueAll();
  await new Promise((settled) => setImmediate(settled));
  expect([enqueued, sent.length]).toEqual([2, 1]);
});

test("nobody is accused by an operator without an account, or in a committee that ejects nobody", async () => {
  await accuserOf("alone", false).pursueAll();
  members = members.slice(1);
  await accuserOf("alone").pursueAll();
  expect(sent).toEqual([]);
});
