import type { FailureReason } from "@dataset-oracle/protocol/operator-problem";
import { describe, expect, test } from "vitest";
import { UpdateReverted } from "../dataset/contract.js";
import type { Failure } from "../reports/failures.js";
import { NoQuorum } from "../reports/quorum.js";
import { RpcError } from "../rpc/rpc-error.js";
import { NotSent } from "../transactions/not-sent.js";
import { KeyNotServed } from "../update/builder.js";
import { Overtaken } from "../update/updates.js";
import { problemOf } from "./problems.js";

const failure = (reason: FailureReason, host: string | null): Failure => {
  const provider = host === null ? "0x01" : "0x02";
  return { kind: "failure", provider, host, reason, detail: "failed", code: null, refuses: null };
};
const FAILURES = [failure("timeout", "a.example"), failure("no_endpoint", null)];
const MEMBERS = FAILURES.map(({ provider, host, reason, detail }) => ({ provider, host, reason, detail }));

const NO_BROADCAST = expect.stringContaining('"broadcast": false');

test.each([
  [
    new RpcError("failed", 42, "eth_call", "HTTP 500 at the provider's host"),
    { status: 502, code: "rpc_failed", title: "The RPC of network 42 failed.", extras: {} },
  ],
  [
    new RpcError("timeout", 42, "eth_call", "no answer"),
    { status: 504, code: "rpc_timeout", logFields: { method: "eth_call", reason: "no answer" } },
  ],
  [
    new KeyNotServed("They refuse it."),
    { status: 422, code: "unknown_key", detail: expect.stringContaining("They refuse it."), extras: {} },
  ],
  [new KeyNotServed("They refuse it.", FAILURES), { code: "unknown_key", extras: { failures: MEMBERS } }],
  [
    new UpdateReverted("FutureRound(2, 1)"),
    {
      ...{ status: 503, code: "update_reverted", extras: { error: "FutureRound(2, 1)" } },
      title: "The dataset refuses the update: FutureRound(2, 1).",
      detail: "Nothing was changed. Try again in a few seconds.",
    },
  ],
  [new NotSent(42, { kind: "no_sender" }), { status: 422, code: "broadcast_unavailable", detail: NO_BROADCAST }],
  [
    new NotSent(42, { kind: "gas_spent", budget: "new", payer: null, retryAfterSeconds: 2 }),
    { status: 429, detail: expect.stringContaining("in 2 s"), headers: { "retry-after": "2" } },
  ],
  [
    new NotSent(42, {
      kind: "fees_too_high",
      excess: { setting: "maxFeePerGasGwei", wanted: null, cap: 50n * 10n ** 9n },
    }),
    { code: "fees_too_high", title: expect.stringContaining("asks for more than 50 gwei") },
  ],
  [
    new NotSent(42, { kind: "signer_failed", sender: "0x01", reason: "away" }),
    {
      code: "signer_failed",
      title: expect.stringContaining("network 42"),
      logFields: { sender: "0x01", reason: "away" },
    },
  ],
  [new Overtaken(7n), { code: "update_reverted", detail: expect.stringContaining("Round 7 is stored or pending.") }],
])("%s is answered with its problem", (error, problem) => {
  expect(problemOf(error)).toMatchObject(problem);
});

test("an error that is not expected has no problem", () => {
  expect(problemOf(new Error("a bug"))).toBeNull();
});

describe("a missing quorum", () => {
  test("names each provider that failed, and how", () => {
    const problem = problemOf(new NoQuorum(4, "2 signed a value", FAILURES));
    expect(problem).toMatchObject({ status: 503, code: "no_quorum", extras: { failures: MEMBERS } });
    expect(problem?.detail).toContain("Of 4 data providers, 2 signed a value");
    expect(problem?.detail).toContain("0x02 (a.example): failed. 0x01: failed. ");
  });

  test.each<[FailureReason[], boolean]>([
    [["timeout", "timeout"], true],
    [["no_endpoint", "timeout"], true],
    [["no_endpoint", "wrong_signer"], false],
    [["other_report", "other_report"], false],
  ])("of four after %s, whether trying again can help: %s", (reasons, canHelp) => {
    const failures = reasons.map((reason) => failure(reason, null));
    expect(problemOf(new NoQuorum(4, "", failures))?.detail.includes("Try again in a few seconds.")).toBe(canHelp);
  });
});
