import { expect, test } from "vitest";
import { RpcError } from "../chain/rpc-error.js";
import { FeedGasSpent } from "../gas-budget.js";
import { NoQuorum, outOfFunds, unknownKey } from "../problems.js";
import type { Failure } from "../providers/failure.js";
import { failureScopeOf, isWorthSplitting } from "./failure-scope.js";

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
  ["the key is not served", unknownKey(""), "update"],
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
