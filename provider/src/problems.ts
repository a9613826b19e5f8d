import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { DATASET_DISPLAY_NAMES } from "@dataset-oracle/protocol/request-spec";
import { MAX_ROUND_AGE, MAX_ROUND_AHEAD, USUAL_AGE } from "@dataset-oracle/protocol/signing-window";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { LeaseProblem } from "./decisions/lease.js";

/* All times are in seconds. */

export const invalidAddress = (problem: string) =>
  new ProblemError(400, "invalid_address", { title: "The dataset's address is not valid.", detail: problem });

export const unknownNetwork = (chainId: number, served: readonly number[]) =>
  new ProblemError(422, "unknown_network", {
    title: "The network is not served here.",
    detail: `This provider does not serve network ${chainId}. Set network_id to one of: ${served.join(", ")}.`,
    extras: { served },
  });

export const unknownDataset = (address: string, chainId: number) =>
  new ProblemError(404, "unknown_dataset", {
    title: "The dataset is not served here.",
    detail: `${address} is not a dataset that this provider serves on network ${chainId}. Check the address.`,
  });

export const invalidKey = (form: KeyForm) =>
  new ProblemError(422, "invalid_key", {
    title: "The key does not have the dataset's form.",
    detail: `The keys of this dataset are ${KEY_FORM_WORDS[form]}.`,
  });

const ASK_OWNER = "Use another key, or ask the provider's owner to serve this one.";

/** Why a key that has the form of its dataset is not served, and what to do. */
const UNSERVED = {
  not_listed: `is not in the provider's deployment file. ${ASK_OWNER}`,
  too_few_sources: `is in the provider's deployment file, but too few of the provider's sources know it. ${ASK_OWNER}`,
  web_oracle_off: `belongs to the Web Oracle, which this provider does not serve. ${ASK_OWNER}`,
} as const;

/** @param key In ASCII if it is printable, else in hex. */
export const unknownKey = (key: string, reason: keyof typeof UNSERVED) =>
  new ProblemError(422, "unknown_key", {
    title: "This provider does not serve the key.",
    detail: `${key} ${UNSERVED[reason]}`,
  });

export const specNotPublished = (specHash: string, chainId: number) =>
  new ProblemError(422, "unknown_key", {
    title: "The key's request spec is not published.",
    detail:
      `No spec with the hash ${specHash} is published on network ${chainId}. Publish it with "provider publish", ` +
      "and try again after the transaction is mined.",
  });

export const tooManyUnknownKeys = (retryAfter: number) =>
  new ProblemError(429, "too_many_requests", {
    title: "Too many requests for keys whose request specs are not published.",
    detail: `The key was not looked up. Ask for keys whose specs are published, or try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

export const invalidSpec = (problem: string) =>
  new ProblemError(422, "invalid_spec", {
    title: "The key's request spec is not valid.",
    detail: `${problem} Fix the spec, check it with "provider validate", and publish it again.`,
  });

export const invalidArguments = (problem: string) =>
  new ProblemError(422, "invalid_arguments", {
    title: "The key's arguments do not fit its request spec.",
    detail: `${problem} "provider key" prints the right key.`,
  });

export const otherKind = (type: string, kind: DatasetKind) =>
  new ProblemError(422, "other_kind", {
    title: "The key belongs to another dataset.",
    detail: `Its value is a ${type}. Use the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset.`,
  });

export const hostNotAllowed = (host: string) =>
  new ProblemError(422, "host_not_allowed", {
    title: `This provider does not request ${host}.`,
    detail: "Its owner allows only certain hosts for published specs. Ask the owner to allow this one too.",
  });

export const registryUnavailable = (retryAfter: number) =>
  new ProblemError(503, "registry_unavailable", {
    title: "Published request specs cannot be read from the chain now.",
    detail: `The key could not be checked, and nothing was signed. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

export const roundTooOld = (round: bigint, now: bigint) =>
  new ProblemError(422, "round_too_old", {
    title: "The round is too old.",
    detail: `Round ${round} is more than ${MAX_ROUND_AGE} s behind this provider's clock, ${now}. Ask for a newer one.`,
  });

export const roundInFuture = (round: bigint, now: bigint) =>
  new ProblemError(422, "round_in_future", {
    title: "The round is in the future.",
    detail: `Round ${round} is more than ${MAX_ROUND_AHEAD} s ahead of this provider's clock, ${now}. Check your clock.`,
  });

const timeText = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString().replace(".000Z", "Z");

/** Returns the header that tells callers when the usual rounds are signed again. */
const retryAfterSilence = (through: bigint, now: bigint) => ({
  "retry-after": String(through < now ? 1n : through - now + USUAL_AGE + 1n),
});

/** @param through The last round for which no new decision is made. */
export const roundForgotten = (round: bigint, through: bigint, now: bigint) =>
  new ProblemError(503, "round_forgotten", {
    title: "The round may have been signed already.",
    detail:
      `Round ${round} may have been signed before this provider's last start, or was forgotten. Ask for a round after ` +
      `${through} (${timeText(through)}).`,
    headers: retryAfterSilence(through, now),
  });

/** @param through The last round for which no new decision is made. */
export const silentThrough = (through: bigint, now: bigint) =>
  new ProblemError(503, "not_ready", {
    title: "This provider does not sign yet.",
    detail:
      `It signs no new round up to ${through} (${timeText(through)}), because it may have signed some of them before it ` +
      "was started. Wait until then. If that is far away, its clock was ahead: its owner can wait, or use a new key.",
    headers: retryAfterSilence(through, now),
  });

/** Why a provider that has started signs nothing, and what its owner must do. */
const LEASE_PROBLEMS: Readonly<Record<LeaseProblem, string>> = {
  starting: "It has not taken its lease yet. Try again in a few seconds.",
  unwritable: "Its lease cannot be written. Its owner must make room on the disk, or mount it writable.",
  lost: "Another process has taken its lease, or its files were removed, so it ends. Its owner must run one process for each signing key.",
};

export const leaseProblem = (problem: LeaseProblem) =>
  new ProblemError(503, "not_ready", {
    title: "This provider cannot sign now.",
    detail: LEASE_PROBLEMS[problem],
    headers: { "retry-after": "5" },
  });

/** @param keys The keys whose sources are at their rate limits, or whose answers cannot be read now. */
export const sourceBusy = (retryAfter: number, keys: readonly string[]) =>
  new ProblemError(503, "source_busy", {
    title: "The sources' rate limits, or the limits on computing time, are used up.",
    detail: `Too few sources could be asked and read to tell if there is a value, and which. Try again in ${retryAfter} s.`,
    extras: { keys },
    headers: { "retry-after": String(retryAfter) },
  });

/** @param perSecond How many keys a caller may ask for in a second. */
export const tooManyKeys = (perSecond: number, retryAfter: number) =>
  new ProblemError(429, "too_many_rounds", {
    title: "This caller has asked for too many keys.",
    detail:
      `A caller that is not in "operators" may ask for ${perSecond} per second. New values, and new request specs, count as ` +
      `several. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

export const tooManyRounds = (retryAfter: number) =>
  new ProblemError(429, "too_many_rounds", {
    title: "This provider has no room for another decision.",
    detail: `It remembers all that it signed while that can be stored. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });
