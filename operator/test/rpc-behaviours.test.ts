import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { encodeErrorResult, keccak256, numberToHex, parseGwei, stringToHex, zeroAddress } from "viem";
import { type ExpectStatic, expect, test } from "vitest";
import {
  type Answered,
  afterPassingOn,
  changed,
  EVERYTHING,
  EXECUTION,
  error,
  only,
  PENDING_BLOCK,
  PENDING_COUNT,
  READS,
  RECEIPTS,
  RESET_OF_REUSED,
  type RpcQuestion,
  result,
  SILENCE,
  STATE,
  SUBMISSION,
  times,
} from "./rpc-behaviours/behaviour.js";
import { startCommittee, WAIT } from "./support/committee.js";
import type { RunningOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

/**
 * What an operator does when RPC endpoints behave as no ideal node does: one behaviour for each meaning that
 * src/rpc/reported-answers.test.ts finds in their answers. What becomes of an endpoint is in src/rpc/pool.test.ts, and
 * how an operator starts in late-networks.test.ts.
 */

interface ExpectedProblem {
  readonly http: number;
  readonly code: string;
  /** A part of its texts. */
  readonly says?: string;
  /** True if the transaction may be in a node's pool, so that its nonce stays occupied. */
  readonly isOpen?: boolean;
}

type Behaviour = readonly [
  at: "the first of two" | "each of two" | "the only one",
  asked: RpcQuestion,
  answered: Answered,
  /** What the operator does: it answers requests, also those that wait until they are mined, or with a problem. */
  right: "it is answered" | "it is mined" | ExpectedProblem,
];

const HASH = `0x${"1".repeat(64)}`;
const REVERT = { data: encodeErrorResult({ abi: datasetAbi, errorName: "NoQuorum", args: [1n, 3n] }) };
const FAILED: ExpectedProblem = { http: 502, code: "rpc_failed" };
const OPEN: ExpectedProblem = { ...FAILED, isOpen: true };
const TOO_MANY = error(429, "Your app has exceeded its compute units per second capacity.", { status: 429 });
const KNOWN = error(-32000, "already known");
const TOO_LOW = error(-32000, "nonce too low");
const NO_FUNDS = error(-32000, "insufficient funds for gas * price + value");
const HEADER_NOT_FOUND = error(-32000, "header not found");
const NO_METHOD = error(-32601, "the method does not exist/is not available");
const WITHOUT_BASE_FEE = changed("without a base fee", (block: object) => ({ ...block, baseFeePerGas: undefined }));
const WITH_BAD_SIZE = changed("with a malformed size", (block: object) => ({ ...block, size: "zz" }));
const FEES_ABOVE_CAP = changed("with a base fee of 501 gwei", (block: object) => ({
  ...block,
  baseFeePerGas: numberToHex(parseGwei("501")),
}));
const IMPOSSIBLE_NONCE = { hash: HASH, nonce: `0x${"f".repeat(60)}`, to: zeroAddress, input: "0x", gas: "0x1" };

const BEHAVIOURS: readonly Behaviour[] = [
  ["the first of two", EVERYTHING, TOO_MANY, "it is answered"],
  ["each of two", EVERYTHING, TOO_MANY, FAILED],
  ["the only one", EVERYTHING, SILENCE, { http: 504, code: "rpc_timeout" }],
  ["the only one", READS, RESET_OF_REUSED, "it is answered"],
  ["the first of two", SUBMISSION, RESET_OF_REUSED, "it is mined"],

  ["the first of two", STATE, HEADER_NOT_FOUND, "it is answered"],
  ["the first of two", EXECUTION, result("0x"), "it is answered"],
  [
    "the first of two",
    RECEIPTS,
    changed("without logs", (found: object | null) => found && { ...found, logs: [] }),
    "it is mined",
  ],
  ["the only one", RECEIPTS, times(2, result(null)), "it is mined"],
  ["the only one", RECEIPTS, times(2, result({ status: "0x1" })), "it is mined"],

  ["the only one", PENDING_COUNT, result(numberToHex(5_000_000)), FAILED],
  ["the only one", PENDING_COUNT, result(numberToHex(Number.MAX_SAFE_INTEGER - 1)), FAILED],

  ["each of two", PENDING_BLOCK, error(-32000, "pending block is not available"), "it is answered"],
  ["each of two", PENDING_COUNT, error(-32602, "invalid block parameter: pending"), "it is answered"],
  ["each of two", only("txpool_contentFrom"), NO_METHOD, "it is answered"],
  [
    "the only one",
    only("txpool_contentFrom"),
    result({ pending: {}, queued: { 7: IMPOSSIBLE_NONCE } }),
    "it is answered",
  ],
  ["the first of two", EXECUTION, NO_METHOD, "it is answered"],
  ["each of two", SUBMISSION, NO_METHOD, FAILED],

  ["the only one", SUBMISSION, afterPassingOn(KNOWN), "it is mined"],
  ["the only one", SUBMISSION, afterPassingOn(TOO_LOW), "it is mined"],
  ["the only one", SUBMISSION, afterPassingOn(SILENCE), "it is mined"],
  ["the only one", SUBMISSION, afterPassingOn(result(HASH)), "it is mined"],
  ["the only one", SUBMISSION, times(1, result(HASH)), "it is mined"],
  ["the only one", SUBMISSION, times(1, TOO_LOW), "it is mined"],
  ["the only one", SUBMISSION, times(1, error(-32006, "Nonce too high")), "it is mined"],
  ["the first of two", SUBMISSION, NO_FUNDS, "it is mined"],
  ["the only one", SUBMISSION, NO_FUNDS, { http: 503, code: "out_of_funds" }],
  ["the only one", SUBMISSION, result("zz"), OPEN],

  ["the only one", only("eth_getBlockByNumber"), WITHOUT_BASE_FEE, "it is mined"],
  // What is not used is not read, so that it cannot fail outside of failover.
  ["the only one", only("eth_getBlockByNumber"), WITH_BAD_SIZE, "it is mined"],
  [
    "the only one",
    only("eth_getBlockByNumber"),
    FEES_ABOVE_CAP,
    { http: 503, code: "fees_too_high", says: "asks for 501 gwei per gas, and this operator offers at most 500 gwei" },
  ],

  ["the only one", EXECUTION, result(`0x${"f".repeat(192)}`), FAILED],
  // What a contract answers is final: the second endpoint would not refuse it.
  [
    "the first of two",
    EXECUTION,
    error(3, "execution reverted", REVERT),
    { http: 503, code: "update_reverted", says: "NoQuorum" },
  ],
  ["the first of two", EXECUTION, error(-32000, "execution reverted"), FAILED],
];

/** The keys of the accepted transactions, with their rounds. */
const accepted = new Map<string, number>();
let counter = 0;

const { chain, dataset, body, start } = await startCommittee(1);
const newBody = (broadcast = true) => body(`SPOTPX/B${counter++}-USD`, broadcast);

async function ask(operator: RunningOperator, headers: Record<string, string> = {}): Promise<void> {
  const body = newBody();
  const { status, timestamp } = await operator.ask(body, headers);
  expect(status).toBe("OK");
  accepted.set(body.key, timestamp);
}

async function check(operator: RunningOperator, [, asked, , right]: Behaviour, expect: ExpectStatic): Promise<void> {
  if (typeof right === "string") return ask(operator, right === "it is mined" ? WAIT : {});
  const { http, code, says = "" } = right;
  const requests = asked === EVERYTHING ? [true, false] : [true];
  for (const problem of await Promise.all(requests.map((broadcast) => operator.askForProblem(newBody(broadcast))))) {
    expect(problem).toMatchObject({ http, code });
    expect(`${problem.title} ${problem.detail}`).toContain(says);
  }
}

const cases = BEHAVIOURS.map((behaviour) => {
  const [at, asked, answered, right] = behaviour;
  const then = typeof right === "string" ? right : `${right.http} ${right.code}`;
  return [`${at} answers ${asked.name} with ${answered.name}: ${then}`, behaviour] as const;
});

// Each behaviour has an operator and proxies of its own, in front of one chain. While it lasts, the operator's clock
// stands still, so that a quarantine lasts as long.
test.concurrent.for(cases)("%s", async ([, behaviour], { expect }) => {
  const [at, asked, answered, right] = behaviour;
  const first = await startRpcProxy(chain.url);
  const proxies = at === "the only one" ? [first] : [first, await startRpcProxy(chain.url)];
  let stopped: number | null = null;
  const settings = answered.name.includes("silence") ? { rpcTimeoutMs: 10_000 } : {};
  const options = { plugins: [], clock: clockOf(() => stopped ?? Date.now()) };
  const operator = await start(settings, options, { rpcUrls: proxies.map(({ url }) => url) });
  if (right !== "it is mined") stopped = Date.now();
  for (const proxy of at === "each of two" ? proxies : [first]) {
    let nth = 0;
    proxy.script = (call) => (asked.matches(call) ? answered.reply(call, nth++) : null);
  }
  await check(operator, behaviour, expect);
  stopped = null;
  for (const proxy of proxies) proxy.script = () => null;
  // An earlier check of an endpoint can still wait for an answer.
  await expect.poll(() => ask(operator).then(() => "answered", String)).toBe("answered");
  if (typeof right === "object") {
    const sent = right.isOpen ? 2 : 1;
    await expect.poll(() => chain.nonce(operator.account.address)).toBe(sent);
  }
  expect(operator.log.join("\n")).not.toContain('"stack"');
  await operator.close();
});

test("every transaction that was accepted is mined exactly once", async () => {
  const rounds = async () => {
    const updates = await chain.updates(dataset);
    return [...accepted.keys()].map((key) => {
      const hash = keccak256(stringToHex(key));
      return [key, ...updates.filter(({ keyHash }) => keyHash === hash).map(({ timestamp }) => Number(timestamp))];
    });
  };
  await expect.poll(rounds).toEqual([...accepted]);
});
