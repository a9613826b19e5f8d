import type { SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { useState } from "preact/hooks";
import { tellScreenReaders } from "../components/tell-screen-readers";
import type { NetworkAndDataset } from "../live/overview-state";
import { type ReadError, trySpec } from "../operator-api";
import { NO_PROBLEMS, type Problems, problemsOf, problemsOfTrial } from "./problems-by-field";
import { argumentsOf, type SpecDraft } from "./spec-draft";
import { fieldId } from "./spec-field";

/** The last trial, and what became of it. */
export interface TrialState {
  readonly trial: SpecTrial | null;
  readonly error: ReadError | null;
  readonly problems: Problems;
  readonly isBusy: boolean;
  /** True if the trial is of the spec and the arguments as they are now. */
  readonly isCurrent: boolean;
}

interface State extends Omit<TrialState, "isCurrent"> {
  /** The spec and the arguments that were tried. */
  readonly of: string;
}

/** Tries a spec when asked to. If the trial is refused, the cursor goes into the first field that is wrong. */
export function useTrial({ network, dataset }: NetworkAndDataset, draft: SpecDraft, args: readonly string[]) {
  const [state, setState] = useState<State>({ of: "", trial: null, error: null, problems: NO_PROBLEMS, isBusy: false });
  const asked = {
    network_id: network.network_id,
    dataset: dataset.dataset,
    spec: draft,
    arguments: argumentsOf(draft, args),
  };
  const of = JSON.stringify(asked);
  const run = async () => {
    setState((before) => ({ ...before, isBusy: true }));
    const answer = await trySpec(asked);
    const problems = answer.ok ? problemsOfTrial(answer.value) : problemsOf(answer.error, draft);
    const [trial, error] = answer.ok ? [answer.value, null] : [null, answer.error];
    setState({ of, trial, error, problems, isBusy: false });
    tellScreenReaders(answer.ok ? wordsOf(answer.value) : answer.error.title);
    const [first] = problems.keys();
    if (error !== null && first !== undefined) document.getElementById(fieldId(first))?.focus();
  };
  const isCurrent = state.of === of;
  const tried: TrialState = { ...state, isCurrent, problems: isCurrent ? state.problems : NO_PROBLEMS };
  return { tried, run };
}

const wordsOf = ({ combined }: SpecTrial) =>
  combined.value === null ? `There is no value: ${combined.reason}.` : `The value is ${combined.text}.`;
