import { isDeepStrictEqual } from "node:util";
import { SpecAdvice, type SpecAdviceRequest } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { SpecTrial, type SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Address, type Hex, hexToString } from "viem";
import type { Network } from "../network.js";
import { hostNotAllowed, invalidArguments, invalidSpec, trialFailed, trialsBusy, trialsOff } from "../problems.js";
import { askProvider } from "../providers/ask-provider.js";
import type { Fail, Failure } from "../providers/failure.js";
import { postQuestion } from "../providers/post-question.js";

/** A provider gives its sources 5 s, and its workers 6 s. */
const TRIAL_MS = 12_000;
const ADVICE_MS = 5_000;
/** A trial of 8 sources, with everything as long as its schema allows. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** The wait that callers are told when a provider is busy, in seconds. */
const RETRY_AFTER = 2;

/**
 * The reason why a provider gave no answer. `spec`: the question is wrong, and every provider would say so. `off`: it
 * offers no trials. `other`: another provider may answer.
 */
export interface Refusal {
  readonly scope: "spec" | "off" | "other";
  readonly problem: ProblemError;
}

const InvalidSpec = Type.Object({
  code: Type.Literal("invalid_spec"),
  errors: Type.Array(
    Type.Object({ property: Type.String({ maxLength: 1_024 }), problem: Type.String({ maxLength: 4_096 }) }),
    { minItems: 1, maxItems: 100 },
  ),
});
const OtherProblem = Type.Object({ code: Type.String(), detail: Type.String({ maxLength: 2_048 }) });

/** Lets one provider try a spec. */
export function askProviderForTrial(
  network: Network,
  provider: Address,
  request: SpecTrialRequest,
  signal: AbortSignal,
): Promise<SpecTrial | Refusal> {
  const { spec, arguments: args } = request;
  const read = (json: unknown, _: Address, fail: Fail) => {
    if (!Value.Check(SpecTrial, json)) return fail("invalid_report", "answered with something other than a trial");
    const isAsked = json.provider === provider && isTrialOfSpec(json, spec, args);
    return isAsked ? json : fail("other_report", "answered with a trial of another spec");
  };
  return ask(network, provider, { path: "/specs/try", body: request, read, timeoutMs: TRIAL_MS }, signal);
}

/** Lets one provider compute advice from the samples of several. */
export function askProviderForAdvice(
  network: Network,
  provider: Address,
  body: SpecAdviceRequest,
  signal: AbortSignal,
): Promise<SpecAdvice | Refusal> {
  const read = (json: unknown, _: Address, fail: Fail) =>
    Value.Check(SpecAdvice, json) ? json : fail("invalid_report", "answered with something other than advice");
  return ask(network, provider, { path: "/specs/advise", body, read, timeoutMs: ADVICE_MS }, signal);
}

/** Tells a refusal from an answer. */
export const isRefusal = (answer: object): answer is Refusal => "scope" in answer;

interface TrialRequest<T> {
  readonly path: "/specs/try" | "/specs/advise";
  readonly body: SpecTrialRequest | SpecAdviceRequest;
  readonly read: (json: unknown, provider: Address, fail: Fail) => T | Failure;
  readonly timeoutMs: number;
}

async function ask<T extends SpecTrial | SpecAdvice>(
  { providerUrls, http }: Network,
  provider: Address,
  { path, body, read, timeoutMs }: TrialRequest<T>,
  signal: AbortSignal,
): Promise<T | Refusal> {
  const posted = { path, body: JSON.stringify(body), limits: { timeoutMs, maxBytes: MAX_ANSWER_BYTES } };
  const question = {
    send: (base: string, whileOpen: AbortSignal) => postQuestion(http, base, posted, whileOpen),
    read,
    readProblem: (json: unknown) => readRefusal(json, provider),
  };
  const answer = await askProvider<T | Refusal>(question, provider, providerUrls, signal);
  return isFailed(answer) ? refusal("other", trialFailed(answer)) : answer;
}

const isFailed = (answer: object): answer is Failure => "refuses" in answer;

const refusal = (scope: Refusal["scope"], problem: ProblemError): Refusal => ({ scope, problem });

/** Reads the problems of trials. Of the provider's own words, only those about a wrong question are passed on. */
function readRefusal(json: unknown, provider: Address): Refusal | null {
  if (Value.Check(InvalidSpec, json)) {
    return refusal("spec", invalidSpec(json.errors.map(({ property, problem }) => ({ property, problem }))));
  }
  if (!Value.Check(OtherProblem, json)) return null;
  switch (json.code) {
    case "invalid_arguments":
      return refusal("spec", invalidArguments(json.detail));
    case "host_not_allowed":
      return refusal("other", hostNotAllowed(provider));
    case "trials_off":
    // An older provider has no such path.
    case "no_such_path":
      return refusal("off", trialsOff());
    case "trials_busy":
    case "too_many_requests":
      return refusal("other", trialsBusy(RETRY_AFTER));
    default:
      return null;
  }
}

/** Checks that a trial has the bytes, the hash and the key of a spec: whoever publishes them must publish this spec. */
function isTrialOfSpec(trial: SpecTrial, spec: unknown, args: readonly string[]): boolean {
  const bytes = trial.spec_bytes as Hex;
  const hash = specHash(bytes);
  if (!hash.ok || hash.value !== trial.spec_hash) return false;
  const key = webOracleKey({ specHash: hash.value, args });
  if (!key.ok || key.value !== trial.key_hex || hexToString(key.value) !== trial.key) return false;
  try {
    return isDeepStrictEqual(JSON.parse(hexToString(bytes)), JSON.parse(JSON.stringify(spec)));
  } catch {
    return false;
  }
}
