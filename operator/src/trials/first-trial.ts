import type { SpecTrial, SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { Address } from "viem";
import type { Network } from "../network.js";
import { trialsOff } from "../problems.js";
import { askProviderForTrial, isRefusal } from "./ask-provider-about-spec.js";

/** The maximum number of providers that are asked in turn for one trial. */
const MAX_ASKED = 4;

/**
 * Lets the first provider that can do so try a spec. Those that offer no trials do not count towards the maximum.
 *
 * @throws ProblemError when the spec is wrong, or none of them tried it.
 */
export async function firstTrial(
  network: Network,
  providers: readonly Address[],
  request: SpecTrialRequest,
  signal: AbortSignal,
): Promise<SpecTrial> {
  let reason: ProblemError | null = null;
  let asked = 0;
  for (const provider of providers) {
    const answer = await askProviderForTrial(network, provider, request, signal);
    if (!isRefusal(answer)) return answer;
    if (answer.scope === "spec") throw answer.problem;
    if (answer.scope === "off") continue;
    reason ??= answer.problem;
    asked += 1;
    if (asked >= MAX_ASKED || signal.aborted) break;
  }
  throw reason ?? trialsOff();
}
