import { problem } from "@dataset-oracle/service/http-server/problem-error";
import { pino } from "pino";
import { expect, test } from "vitest";
import { outOfFunds } from "../../problems.js";
import type { Failure } from "../../reports/failures.js";
import { NoQuorum } from "../../reports/quorum.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { FeedGasSpent } from "../../transactions/gas-budget.js";
import { backoffMsAfter, FailureBackoff, failureScopeOf, isWorthSplitting } from "./failure-backoff.js";

test.each([
  [1, 500, 1_000],
  [2, 1_000, 2_000],
  [5, 8_000, 16_000],
  [6, 15_000, 30_000],
  [1_000, 15_000, 30_000],
])("after %s failures in a row the wait is from %s to %s ms", (failures, shortest, longest) => {
  expect(backoffMsAfter(failures, 1)).toBe(shortest);
  expect(backoffMsAfter(failures, 0)).toBe(longest);
});

test("a dependency that fails again and again is logged when it begins to fail and when it works again", () => {
  const log: { level: number; msg: string; failures: number; seconds?: number }[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => log.push(JSON.parse(line)) });
  let now = 1_000_000;
  const backoff = new FailureBackoff(() => now, logger);
  for (let second = 0; second < 100; second++, now += 1_000) {
    if (backoff.isDue("committee"))
      for (let key = 0; key < 29; key++) backoff.failed("committee", new NoQuorum(4, "none signed", []));
    expect(backoff.isDue("0x01")).toBe(true);
  }
  backoff.worked("committee");
  backoff.worked("committee");
  expect(log).toMatchObject([
    { level: 40, dependency: "committee" },
    { level: 30, msg: "feed: works again", seconds: 100 },
  ]);
  // At most one in 2.5 s.
  expect(log[1]?.failures).toBeLessThanOrEqual(42);
  expect(backoff.isDue("committee")).toBe(true);
});

test("a sender that cannot pay is named with what to do", () => {
  const log: string[] = [];
  const backoff = new FailureBackoff(() => 0, pino({}, { write: (line: string) => log.push(line) }));
  const sender = "0x0000000000000000000000000000000000000001";
  backoff.failed("sending", outOfFunds(42, sender));
  expect(JSON.parse(log[0] ?? "")).toMatchObject({ sender, fix: "Fund the sender." });
  expect(log[0]).not.toContain("broadcast");
});

test("after the gas budget is spent, sending waits until some is free", () => {
  let now = 0;
  const backoff = new FailureBackoff(() => now, pino({ level: "silent" }));
  backoff.failed("sending", new FeedGasSpent(600));
  now = 599_000;
  expect(backoff.isDue("sending")).toBe(false);
  now = 600_000;
  expect(backoff.isDue("sending")).toBe(true);
});

const failure = (isRefusal: boolean): Failure => ({
  kind: "failure",
  provider: "0x0000000000000000000000000000000000000001",
  host: null,
  reason: isRefusal ? "refused" : "timeout",
  detail: "",
  code: null,
  refuses: isRefusal ? "question" : null,
});
const OUT_OF_FUNDS = outOfFunds(42, "0x0000000000000000000000000000000000000001");
const [silent, refusal] = [failure(false), failure(true)];
const noQuorum = (...failures: readonly Failure[]) => new NoQuorum(4, "too few signed the same", failures);

test.each([
  ["no member of four answers", noQuorum(silent, silent, silent, silent), "committee"],
  ["two of four do not answer", noQuorum(silent, silent), "committee"],
  ["one does not answer, and one refuses the keys", noQuorum(silent, refusal), "update"],
  ["all refuse the keys", noQuorum(refusal, refusal, refusal, refusal), "update"],
  ["all answer, and disagree whether there is a value", noQuorum(), "update"],
  ["the key is not served", problem("unknown_key", { explanation: "" }), "update"],
  ["the node refuses the call", new RpcError("refused", 42, "eth_call", "invalid opcode"), "update"],
  ["the node does not answer", new RpcError("timeout", 42, "eth_call", "no answer"), "sending"],
  ["the sender has no funds", OUT_OF_FUNDS, "sending"],
  ["the gas is spent", new FeedGasSpent(60), "sending"],
  ["something unexpected happens", new Error("unexpected"), "update"],
])("when %s, the scope is %s", (_, error, scope) => {
  expect(failureScopeOf(error)).toBe(scope);
});

test("a batch is split if its keys can succeed one by one", () => {
  expect(isWorthSplitting(noQuorum(refusal, refusal, refusal, refusal))).toBe(true);
  expect(isWorthSplitting(new FeedGasSpent(60))).toBe(true);
  expect(isWorthSplitting(noQuorum(silent, silent, silent, silent))).toBe(false);
  expect(isWorthSplitting(OUT_OF_FUNDS)).toBe(false);
});
