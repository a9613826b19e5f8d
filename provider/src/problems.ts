import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import { MAX_EVIDENCE_TEXT } from "@dataset-oracle/protocol/wire-evidence";
import { ProblemError } from "@dataset-oracle/service/http-server/problem";
import { MAX_AHEAD, MAX_BEHIND, MAX_DECIDED_BEHIND } from "./signing-window.js";

export const invalidAddress = (problem: string) =>
  new ProblemError({
    title: "The dataset's address is not valid.",
    status: 400,
    code: "invalid_address",
    detail: problem,
  });

export const unknownNetwork = (chainId: number, served: readonly number[]) =>
  new ProblemError({
    title: "The network is not served here.",
    status: 422,
    code: "unknown_network",
    detail: `network_id ${chainId} is not one of ${served.join(", ")}.`,
    extras: { served },
  });

export const unknownDataset = (address: string, chainId: number) =>
  new ProblemError({
    title: "The dataset is not served here.",
    status: 404,
    code: "unknown_dataset",
    detail: `${address} is not a dataset that this provider serves on network ${chainId}. Check the address.`,
  });

export const invalidKey = (form: KeyForm) =>
  new ProblemError({
    title: "The key does not have the dataset's form.",
    status: 422,
    code: "invalid_key",
    detail: `The keys of this dataset are ${KEY_FORM_WORDS[form]}.`,
  });

export const unknownKey = (key: string) =>
  new ProblemError({
    title: "This provider does not serve the key.",
    status: 422,
    code: "unknown_key",
    detail: `It has too few sources for ${key}. Ask for another key, or ask the provider's owner to add sources.`,
  });

export const specNotPublished = (specHash: string, chainId: number) =>
  new ProblemError({
    title: "The key's request spec is not published.",
    status: 422,
    code: "unknown_key",
    detail:
      `No spec with the hash ${specHash} is published on network ${chainId}. Publish it with "web-oracle publish", ` +
      "and try again after the transaction is mined.",
  });

/** @param retryAfter In seconds. */
export const tooManyUnknownKeys = (retryAfter: number) =>
  new ProblemError({
    title: "Too many requests for keys whose request specs are not published.",
    status: 429,
    code: "too_many_requests",
    detail: `The key was not looked up. Ask for keys whose specs are published, or try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

export const invalidSpec = (problem: string) =>
  new ProblemError({
    title: "The key's request spec is not valid.",
    status: 422,
    code: "invalid_spec",
    detail: `${problem} Fix the spec, check it with "web-oracle validate", and publish it again.`,
  });

/** @param problems One line for each mistake of a spec that is tried, with its place in the spec. */
export function invalidTriedSpec(problems: string): ProblemError {
  const errors = problems.split("\n").map((line) => {
    const [, property = "/", problem = line] = /^(\/\S*): (.*)$/.exec(line) ?? [];
    return { property, problem };
  });
  return new ProblemError({
    title: "The request spec is not valid.",
    status: 422,
    code: "invalid_spec",
    detail: "Fix each place that `errors` names, a JSON pointer into the spec, and try again.",
    extras: { errors },
  });
}

/** @param fix Where to get the right arguments, as a sentence. */
export const invalidArguments = (problem: string, fix = '"web-oracle key" prints the right key.') =>
  new ProblemError({
    title: "The key's arguments do not fit its request spec.",
    status: 422,
    code: "invalid_arguments",
    detail: `${problem} ${fix}`,
  });

export const otherKind = (type: string, kind: DatasetKind) =>
  new ProblemError({
    title: "The key belongs to another dataset.",
    status: 422,
    code: "other_kind",
    detail: `Its value is a ${type}, which only a ${kind} dataset takes. Ask the Web Oracle's ${kind} dataset.`,
  });

/** @param asking The requests that have a rule of their own: those of published specs, or trials. */
export const hostNotAllowed = (host: string, asking: "published specs" | "trials" = "published specs") =>
  new ProblemError({
    title: `This provider does not request ${host}.`,
    status: 422,
    code: "host_not_allowed",
    detail: `Its owner allows ${asking} only certain hosts. Ask the owner to add this one.`,
  });

export const trialsOff = () =>
  new ProblemError({
    title: "This provider offers no trials.",
    status: 404,
    code: "trials_off",
    detail: 'Ask its owner to set webOracle/trials, ask another provider, or try the spec with "web-oracle try".',
  });

/** @param retryAfter In seconds. */
export const trialsBusy = (retryAfter: number) =>
  new ProblemError({
    title: "No further trial can be made now.",
    status: 503,
    code: "trials_busy",
    detail: `Trials have limits of their own, and others are using them. No source was asked for a value. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

export const invalidReadings = (problem: string) =>
  new ProblemError({
    title: "The readings do not fit the request spec.",
    status: 422,
    code: "invalid_readings",
    detail: problem,
  });

/** @param retryAfter In seconds. */
export const registryUnavailable = (retryAfter: number) =>
  new ProblemError({
    title: "Published request specs cannot be read from the chain now.",
    status: 503,
    code: "registry_unavailable",
    detail: `The key could not be checked, and nothing was signed. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

/** Both times are in seconds. */
export const roundTooOld = (round: bigint, now: bigint) =>
  new ProblemError({
    title: "The round is too old.",
    status: 422,
    code: "round_too_old",
    detail: `Round ${round} is more than ${MAX_BEHIND} s behind this provider's clock, ${now}. Ask for a newer one.`,
  });

/** Both times are in seconds. */
export const roundInFuture = (round: bigint, now: bigint) =>
  new ProblemError({
    title: "The round is in the future.",
    status: 422,
    code: "round_in_future",
    detail: `Round ${round} is more than ${MAX_AHEAD} s ahead of this provider's clock, ${now}. Check your clock.`,
  });

/** @param prunedThrough The last round for which the provider may no longer know what it signed. */
export const roundForgotten = (round: bigint, prunedThrough: bigint) =>
  new ProblemError({
    title: "The round may have been signed already.",
    status: 503,
    code: "round_forgotten",
    detail:
      `Round ${round} is older than this provider's records, or its database is new. ` +
      `Ask for a round after ${prunedThrough}.`,
    headers: { "retry-after": "5" },
  });

export const notReady = () =>
  new ProblemError({
    title: "This provider cannot sign now.",
    status: 503,
    code: "not_ready",
    detail:
      "With a new database it signs nothing for a few seconds, so that it signs no round twice: try again. If it still " +
      "cannot sign after a minute, its database cannot be written: its log has the reason, and its owner must restart it.",
    headers: { "retry-after": "5" },
  });

/**
 * @param retryAfter In seconds.
 * @param keys The keys whose sources are at their rate limits, or whose answers cannot be read now.
 */
export const sourceBusy = (retryAfter: number, keys: readonly string[]) =>
  new ProblemError({
    title: "The sources' rate limits, or the limits of computing time, are used up.",
    status: 503,
    code: "source_busy",
    detail: `Too few sources could be asked and read to tell if there is a value. Try again in ${retryAfter} s.`,
    extras: { keys },
    headers: { "retry-after": String(retryAfter) },
  });

export const tooManyRounds = () =>
  new ProblemError({
    title: "This provider has no room for another decision.",
    status: 503,
    code: "too_many_rounds",
    detail: `Its database is full of rounds that can still be signed. Try again in ${MAX_DECIDED_BEHIND} s.`,
    headers: { "retry-after": String(MAX_DECIDED_BEHIND) },
  });

export const evidenceNotPublic = () =>
  new ProblemError({
    title: "This provider does not show evidence.",
    status: 404,
    code: "evidence_not_public",
    detail: "Ask its owner to keep evidence and to set evidence/public to true, or ask another provider.",
  });

/** @param round In seconds. */
export const noEvidence = (round: number) =>
  new ProblemError({
    title: `There is no evidence for round ${round}.`,
    status: 404,
    code: "no_evidence",
    detail:
      "This provider decided no value of the key at this round, or has removed the evidence to make room. Evidence is " +
      "written after a report is signed: for a new one, try again in a second.",
  });

export const evidenceTooLarge = () =>
  new ProblemError({
    title: "The evidence is too large to be shown.",
    status: 422,
    code: "evidence_too_large",
    detail:
      `The sources' answers have more than ${MAX_EVIDENCE_TEXT} bytes. Ask the provider's owner for the files, or look at ` +
      "another round.",
  });

export const evidenceBusy = () =>
  new ProblemError({
    title: "Too much evidence is being sent.",
    status: 503,
    code: "evidence_busy",
    detail: "Other callers are reading evidence. Try again in a second.",
    headers: { "retry-after": "1" },
  });
