import { setTimeout as sleep } from "node:timers/promises";
import {
  type AdviceProgress,
  MAX_SAMPLED_PROVIDERS,
  type SpecAdvice,
  type SpecAdviceRequest,
  sampleOf,
} from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { Address } from "viem";
import type { Network } from "../network.js";
import { shuttingDown, trialsOff } from "../problems.js";
import { askProviderForAdvice, askProviderForTrial, isRefusal, type Refusal } from "./ask-provider-about-spec.js";

/** Slow providers make samples late. When a sample is later than this, it and the remaining ones are not taken. */
const MAX_LATE_MS = 30_000;

/** How many times, and at what interval, providers are sampled. */
interface Sampling {
  readonly samples: number;
  readonly intervalSeconds: number;
  readonly onSample: (progress: AdviceProgress) => void;
  /** Ends the sampling without advice. */
  readonly signal: AbortSignal;
}

/**
 * Lets several providers try a spec at the same times, and one of them compute advice from all results: the operator
 * itself does not contain the engine that reads specs.
 *
 * @throws ProblemError when the spec is wrong, no provider offers trials, or nobody computes the advice.
 */
export async function adviseOnSpec(
  network: Network,
  members: readonly Address[],
  request: SpecTrialRequest,
  { samples, intervalSeconds, onSample, signal }: Sampling,
): Promise<SpecAdvice> {
  const start = performance.now();
  const known = members.slice(0, MAX_SAMPLED_PROVIDERS);
  const first = await askAll(network, known, request, signal);
  const refusals = first.filter(isRefusal);
  const wrong = refusals.find(({ scope }) => scope === "spec");
  if (wrong !== undefined) throw wrong.problem;
  const offering = known.filter((_, index) => !isOff(first[index]));
  if (refusals.length === known.length) throw problemOf(refusals);

  const providers: SpecAdviceRequest["providers"] = offering.map((provider) => ({ provider, samples: [] }));
  const keep = (answers: readonly (SpecTrial | Refusal)[], taken: number) => {
    for (const [index, answer] of answers.entries()) {
      providers[index]?.samples.push(isRefusal(answer) ? null : sampleOf(answer));
    }
    onSample({
      taken,
      of: samples,
      providers: answers.map((answer, index) => show(offering[index] as Address, answer)),
    });
  };
  keep(
    first.filter((answer) => !isOff(answer)),
    1,
  );
  for (let taken = 1; taken < samples; ++taken) {
    const waitMs = start + taken * intervalSeconds * 1_000 - performance.now();
    if (waitMs < -MAX_LATE_MS) break;
    // It rejects when the caller is gone or the operator ends.
    await sleep(Math.max(0, waitMs), null, { signal }).catch(() => {
      throw shuttingDown();
    });
    keep(await askAll(network, offering, request, signal), taken + 1);
  }

  const readings = { ...request, interval_seconds: intervalSeconds, providers };
  let last: Refusal | null = null;
  for (const provider of offering) {
    const advice = await askProviderForAdvice(network, provider, readings, signal);
    if (!isRefusal(advice)) return advice;
    last = advice;
  }
  throw last?.problem ?? trialsOff();
}

const askAll = (network: Network, providers: readonly Address[], request: SpecTrialRequest, signal: AbortSignal) =>
  Promise.all(providers.map((provider) => askProviderForTrial(network, provider, request, signal)));

const isOff = (answer: SpecTrial | Refusal | undefined) =>
  answer !== undefined && isRefusal(answer) && answer.scope === "off";

/** Returns why none of the providers that offer trials made one. */
const problemOf = (refusals: readonly Refusal[]): ProblemError =>
  refusals.find(({ scope }) => scope === "other")?.problem ?? trialsOff();

function show(provider: Address, answer: SpecTrial | Refusal): AdviceProgress["providers"][number] {
  if (isRefusal(answer)) return { provider, text: null, failure: answer.problem.title };
  return { provider, text: answer.combined.text, failure: answer.combined.reason };
}
