import { pino } from "pino";
import { expect, test } from "vitest";
import type { Failure, FailureReason } from "../update/ask-provider.js";
import { ProviderFailures } from "./provider-failures.js";

const PROVIDER = "0x0000000000000000000000000000000000000001";

const failure = (reason: FailureReason, refuses: Failure["refuses"] = null): Failure => ({
  ...{ kind: "failure", provider: PROVIDER, host: null, detail: "" },
  ...{ reason, refuses },
});

/** The reason after these answers, the newest last. */
function after(...answers: readonly { readonly kind: string }[]): FailureReason | null {
  const failures = new ProviderFailures(pino({ level: "silent" }));
  for (const answer of answers) failures.record(PROVIDER, answer);
  return failures.reasonOf(PROVIDER);
}

test("a provider fails from an answer that cannot be used to one that can", () => {
  expect(after()).toBeNull();
  expect(after({ kind: "report" }, failure("timeout"))).toBe("timeout");
  expect(after(failure("timeout"), failure("wrong_signer"))).toBe("wrong_signer");
  expect(after(failure("timeout"), { kind: "row" })).toBeNull();
});

test("a provider that refuses one question works", () => {
  expect(after(failure("timeout"), failure("refused", "question"))).toBeNull();
});

test("an answer that came after the others were enough changes nothing", () => {
  expect(after(failure("late"))).toBeNull();
  expect(after(failure("timeout"), failure("late"))).toBe("timeout");
});

test("a provider that keeps failing is logged once, and once when it answers again", () => {
  const log: object[] = [];
  const failures = new ProviderFailures(pino({}, { write: (line: string) => log.push(JSON.parse(line)) }));
  const fail = (times: number, reason: FailureReason) => {
    for (let i = 0; i < times; i++) failures.record(PROVIDER, failure(reason));
  };
  fail(9, "timeout");
  failures.record(PROVIDER, { kind: "report" });
  expect(log).toEqual([]);
  // A provider that hangs is late whenever the others are a quorum.
  fail(100, "late");
  failures.record(PROVIDER, { kind: "report" });
  failures.record(PROVIDER, { kind: "report" });
  const again = { level: 30, provider: PROVIDER, msg: "a data provider answers again" };
  expect(log).toMatchObject([{ level: 40, provider: PROVIDER, reason: "late", failures: 10 }, again]);
  fail(2, "no_endpoint");
  failures.record(PROVIDER, { kind: "report" });
  expect(log.slice(2)).toMatchObject([{ level: 40, provider: PROVIDER, reason: "no_endpoint" }, again]);
});
