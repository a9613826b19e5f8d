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
  const failures = new ProviderFailures();
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
