import type { FailureReason } from "@dataset-oracle/protocol/operator-problem";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import type { Failure } from "./failures.js";
import { ProviderFailures } from "./failures.js";

const PROVIDER = "0x0000000000000000000000000000000000000001";

const failure = (reason: FailureReason, refuses: Failure["refuses"] = null): Failure => ({
  ...{ kind: "failure", provider: PROVIDER, host: null, detail: "", code: null },
  ...{ reason, refuses },
});

/** The reason after these answers, the newest last. */
function after(...answers: readonly { readonly kind: string }[]): FailureReason | null {
  const failures = new ProviderFailures({ clock: SYSTEM_CLOCK, logger: pino({ level: "silent" }) });
  for (const answer of answers) failures.record(PROVIDER, answer, true);
  return failures.reasonOf(PROVIDER);
}

const [report, row, timeout, late] = [{ kind: "report" }, { kind: "row" }, failure("timeout"), failure("late")];

test.each([
  ["that was never asked", [], null],
  ["whose newest answer cannot be used", [report, timeout], "timeout"],
  ["whose newest answer cannot be used for another reason", [timeout, failure("wrong_signer")], "wrong_signer"],
  ["that answers again", [timeout, row], null],
  ["that refuses one question, and so is reached", [failure("unreachable"), failure("refused", "question")], null],
  ["that signs nothing, and refuses a stranger's key", [failure("refused"), failure("refused", "key")], "refused"],
  ["that hangs, and refuses a stranger's key", [timeout, failure("refused", "key")], "timeout"],
  ["that answered after the others were enough", [late], null],
  ["at a limit that callers can use up", [{ ...failure("refused"), code: "too_many_requests" }], null],
  ["that fails, and then answers after the others were enough", [timeout, late], "timeout"],
] as const)("of a provider %s, the failure is known", (_, answers, reason) => {
  expect(after(...answers)).toBe(reason);
});

test("a provider fails that is slow to answer callers only once that lasts, because they may have chosen its sources", () => {
  let now = 0;
  const failures = new ProviderFailures({ clock: clockOf(() => now), logger: pino({ level: "silent" }) });
  for (let i = 0; i < 10; i++) {
    expect(failures.reasonOf(PROVIDER)).toBeNull();
    failures.record(PROVIDER, timeout, false);
    now += 7_000;
  }
  expect(failures.reasonOf(PROVIDER)).toBe("timeout");
});

describe("the log", () => {
  let now: number;
  let log: object[];
  let failures: ProviderFailures;
  const succeed = () => failures.record(PROVIDER, { kind: "report" }, true);
  /** Records this many failures over this many seconds. */
  const fail = (times: number, seconds: number, reason: FailureReason) => {
    failures.record(PROVIDER, failure(reason), true);
    now += seconds * 1_000;
    for (let i = 1; i < times; i++) failures.record(PROVIDER, failure(reason), true);
  };
  const again = { level: 30, provider: PROVIDER, msg: "a data provider answers again" };

  beforeEach(() => {
    [now, log] = [1_000_000, []];
    const logger = pino({}, { write: (line: string) => log.push(JSON.parse(line)) });
    failures = new ProviderFailures({ clock: clockOf(() => now), logger });
  });

  test("does not name a provider that fails for less than ten requests or less than a minute", () => {
    fail(9, 600, "timeout");
    succeed();
    fail(100, 59, "timeout");
    succeed();
    expect(log).toEqual([]);
  });

  test.each<[FailureReason, string]>([
    ["timeout", "a data provider keeps failing: its answers cannot be used"],
    ["late", "a data provider answers too late to be counted, or not at all"],
  ])("names a provider once whose answers are all %s, and once when it answers again", (reason, msg) => {
    fail(100, 60, reason);
    fail(100, 60, reason);
    succeed();
    succeed();
    expect(log).toMatchObject([{ level: 40, provider: PROVIDER, reason, failures: 10, msg }, again]);
  });

  test("names a provider whose certificate is refused at once, and fails a provider that is late for so long", () => {
    fail(1, 0, "certificate");
    expect(log).toMatchObject([{ level: 40, reason: "certificate", msg: expect.stringContaining("certificate") }]);
    succeed();
    fail(9, 60, "late");
    expect(failures.reasonOf(PROVIDER)).toBeNull();
    fail(1, 0, "late");
    expect(failures.reasonOf(PROVIDER)).toBe("late");
  });

  test("names a provider at most once a minute of whose machines one has a certificate that is refused", () => {
    for (let i = 0; i < 100; i++) {
      fail(1, 1, "certificate");
      succeed();
    }
    expect(log.filter((line) => (line as { level: number }).level === 40)).toHaveLength(2);
  });

  test("names a provider again when it fails for another reason, at most once a minute", () => {
    const reasons = () => log.map((line) => (line as { reason?: FailureReason }).reason);
    fail(100, 60, "timeout");
    for (const reason of ["refused", "late", "unreachable"] as const) fail(10, 19, reason);
    expect(reasons()).toEqual(["timeout"]);
    fail(10, 3, "unreachable");
    fail(10, 60, "late");
    fail(10, 60, "unreachable");
    expect(reasons()).toEqual(["timeout", "unreachable"]);
  });

  test("names a provider without a URL after a minute, and again if it fails when its URL is known", () => {
    fail(100, 59, "no_endpoint");
    expect(log).toEqual([]);
    fail(2, 1, "no_endpoint");
    expect(log).toMatchObject([{ level: 40, provider: PROVIDER, reason: "no_endpoint" }]);
    fail(10, 60, "refused");
    expect(log.slice(1)).toMatchObject([{ level: 40, provider: PROVIDER, reason: "refused", failures: 10 }]);
  });
});
