import { pino } from "pino";
import { expect, test } from "vitest";
import { RpcError } from "../chain/rpc-error.js";
import { FeedGasSpent } from "../gas-budget.js";
import { noQuorum, noQuorumOfRows, outOfFunds, unknownKey } from "../problems.js";
import type { Failure } from "../update/ask-provider.js";
import { backoffMsAfter, FailureBackoff } from "./failure-backoff.js";
import { failureScopeOf, isWorthSplitting } from "./failure-scope.js";

const failure = (refusesQuestion: boolean): Failure => ({
  ...{ kind: "failure", provider: "0x0000000000000000000000000000000000000001", host: null },
  ...{ reason: refusesQuestion ? "refused" : "timeout", detail: "", refusesQuestion },
});
const [silent, refusal] = [failure(false), failure(true)];

test.each([
  ["no member of four answers", noQuorumOfRows(4, 0, [silent, silent, silent, silent]), "committee"],
  ["two of four do not answer", noQuorumOfRows(4, 2, [silent, silent]), "committee"],
  ["one does not answer, and one refuses the keys", noQuorumOfRows(4, 2, [silent, refusal]), "update"],
  ["all refuse the keys", noQuorumOfRows(4, 0, [refusal, refusal, refusal, refusal]), "update"],
  ["all answer, and disagree whether there is a value", noQuorum(4, 2, 2, []), "update"],
  ["the key is not served", unknownKey(), "update"],
  ["the node refuses the call", new RpcError("refused", 42, "eth_call", "invalid opcode"), "update"],
  ["the node does not answer", new RpcError("timeout", 42, "eth_call", "no answer"), "sending"],
  ["the sender has no funds", outOfFunds(42), "sending"],
  ["the gas is spent", new FeedGasSpent(60), "sending"],
  ["something unexpected happens", new Error("unexpected"), "update"],
])("when %s, the scope is right", (_, error, scope) => {
  expect(failureScopeOf(error)).toBe(scope);
});

test("a batch is split if its keys can succeed one by one", () => {
  expect(isWorthSplitting(noQuorumOfRows(4, 0, [refusal, refusal, refusal, refusal]))).toBe(true);
  expect(isWorthSplitting(new FeedGasSpent(60))).toBe(true);
  expect(isWorthSplitting(noQuorumOfRows(4, 0, [silent, silent, silent, silent]))).toBe(false);
  expect(isWorthSplitting(outOfFunds(42))).toBe(false);
});

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
      for (let key = 0; key < 29; key++) backoff.failed("committee", noQuorum(4, 0, 0, []));
    expect(backoff.isDue("0x01")).toBe(true);
  }
  backoff.worked("committee");
  backoff.worked("committee");
  expect(log).toMatchObject([
    { level: 40, part: "committee" },
    { level: 30, msg: "feed: works again", seconds: 100 },
  ]);
  expect(log[1]?.failures).toBeLessThan(15);
  expect(backoff.isDue("committee")).toBe(true);
});

test("gas that is spent is waited for", () => {
  let now = 0;
  const backoff = new FailureBackoff(() => now, pino({ level: "silent" }));
  backoff.failed("sending", new FeedGasSpent(600));
  now = 599_000;
  expect(backoff.isDue("sending")).toBe(false);
  now = 600_000;
  expect(backoff.isDue("sending")).toBe(true);
});
