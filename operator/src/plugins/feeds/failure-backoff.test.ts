import { pino } from "pino";
import { expect, test } from "vitest";
import type { Failure } from "../../reports/failures.js";
import { NoQuorum } from "../../reports/quorum.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { NotSent } from "../../transactions/not-sent.js";
import { KeyNotServed } from "../../update/builder.js";
import { FailureBackoff, failureScopeOf, isWorthSplitting, SHARED } from "./failure-backoff.js";

const PROVIDER = "0x0000000000000000000000000000000000000001";
const silent: Failure = {
  ...{ kind: "failure", provider: PROVIDER, host: null, detail: "", code: null },
  ...{ reason: "timeout", refuses: null },
};
const refusal: Failure = { ...silent, reason: "refused", refuses: "question" };
const OUT_OF_FUNDS = new NotSent(42, { kind: "out_of_funds", sender: PROVIDER });
const GAS_SPENT = new NotSent(42, { kind: "gas_spent", budget: "feeds", payer: null, retryAfterSeconds: 60 });
const noQuorum = (...failures: readonly Failure[]) => new NoQuorum(4, "too few signed the same", failures);

test.each([
  ["no member of four answers", noQuorum(silent, silent, silent, silent), "committee"],
  ["two of four do not answer", noQuorum(silent, silent), "committee"],
  ["one does not answer, and one refuses the keys", noQuorum(silent, refusal), "update"],
  ["all refuse the keys", noQuorum(refusal, refusal, refusal, refusal), "update"],
  ["all answer, and disagree whether there is a value", noQuorum(), "update"],
  ["the key is not served", new KeyNotServed(""), "update"],
  ["the node refuses the call", new RpcError("refused", 42, "eth_call", "invalid opcode"), "update"],
  ["the node does not answer", new RpcError("timeout", 42, "eth_call", "no answer"), "sender"],
  ["the sender has no funds", OUT_OF_FUNDS, "sender"],
  ["the gas is spent", GAS_SPENT, "gas"],
  ["something unexpected happens", new Error("unexpected"), "update"],
])("when %s, the scope is %s", (_, error, scope) => {
  expect(failureScopeOf(error)).toBe(scope);
});

test("a batch is split if its keys can succeed one by one", () => {
  const errors = [noQuorum(refusal, refusal, refusal, refusal), GAS_SPENT, noQuorum(silent, silent, silent, silent)];
  expect([...errors, OUT_OF_FUNDS].map(isWorthSplitting)).toEqual([true, true, false, false]);
});

test("the log says who fails now: again when others do, at most once a minute", () => {
  let now = 0;
  const log: string[] = [];
  const write = (line: string) => log.push(JSON.parse(line).detail);
  const clock = { now: () => 0, monotonic: () => now };
  const backoff = new FailureBackoff({ clock, random: () => 0 }, pino({}, { write }));
  const other: Failure = { ...silent, provider: "0x0000000000000000000000000000000000000002", detail: "is another" };
  const failAt = (seconds: number, ...failures: readonly Failure[]) => {
    now = seconds * 1_000;
    backoff.failed(SHARED.committee, noQuorum(...failures));
  };
  failAt(0, silent, silent);
  failAt(10, silent, other);
  failAt(59, silent, silent);
  expect(log.length).toBe(1);
  failAt(60, silent, other);
  expect(log).toEqual([expect.not.stringContaining("is another"), expect.stringContaining("is another")]);
  failAt(130, silent, other);
  expect(log.length).toBe(2);
  failAt(131, silent, silent);
  expect(log.length).toBe(3);
});
