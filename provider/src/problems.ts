import { MAX_ROUND_AGE, MAX_ROUND_AHEAD } from "@dataset-oracle/protocol/signing-window";
import { type DeclaredProblem, problemMaker } from "@dataset-oracle/service/http-server/problem-error";
import { type TProperties, Type } from "@sinclair/typebox";

interface ProviderProblem extends DeclaredProblem {
  /** The members of its body besides those of every problem. */
  readonly members?: TProperties;
}

/** The problems of a request for a report or a row, by their codes, besides those of any request. Times are in seconds. */
export const PROVIDER_PROBLEMS = {
  invalid_address: { status: [400], title: "The dataset's address is not valid.", detail: "{problem}" },
  unknown_dataset: {
    status: [404],
    title: "The dataset is not served here.",
    detail: "{address} is not a dataset that this provider serves on network {network}. Check the address.",
  },
  unknown_network: {
    status: [422],
    title: "The network is not served here.",
    detail: "This provider does not serve network {network}. Set network_id to one of: {served}.",
    members: { served: Type.Array(Type.Integer()) },
  },
  invalid_key: {
    status: [422],
    title: "The key does not have the dataset's form.",
    detail: "The keys of this dataset are {form}.",
  },
  unknown_key: { status: [422], title: "This provider does not serve the key.", detail: "{key} {reason}" },
  round_too_old: {
    status: [422],
    title: "The round is too old.",
    detail: `Round {round} is more than ${MAX_ROUND_AGE} s behind this provider's clock, {now}. Ask for a newer one.`,
  },
  round_in_future: {
    status: [422],
    title: "The round is in the future.",
    detail: `Round {round} is more than ${MAX_ROUND_AHEAD} s ahead of this provider's clock, {now}. Check your clock.`,
  },
  invalid_spec: {
    status: [422],
    title: "The key's request spec is not valid.",
    detail: '{problem} Fix the spec, check it with "provider validate", and publish it again.',
  },
  invalid_arguments: {
    status: [422],
    title: "The key's arguments do not fit its request spec.",
    detail: '{problem} "provider key" prints the right key.',
  },
  other_kind: {
    status: [422],
    title: "The key belongs to another dataset.",
    detail: "Its value is a {type}. Use the Web Oracle's {dataset} dataset.",
  },
  host_not_allowed: {
    status: [422],
    title: "This provider does not request {host}.",
    detail: "Its owner allows only certain hosts for published specs. Ask the owner to allow this one too.",
  },
  too_many_requests: {
    status: [429],
    title: "Too many requests for keys whose request specs are not published.",
    detail: "The key was not looked up. Ask for keys whose specs are published, or try again in {seconds} s.",
  },
  too_many_rounds: {
    status: [429],
    title: "This provider has no room for another decision.",
    detail: "It remembers all that it signed while that can be stored. Try again in {seconds} s.",
  },
  round_forgotten: {
    status: [503],
    title: "The round may have been signed already.",
    detail:
      "Round {round} may have been signed before this provider's last start, or was forgotten. Ask for a round after {through} ({time}).",
  },
  not_ready: { status: [503], title: "This provider cannot sign now.", detail: "{reason}" },
  source_busy: {
    status: [503],
    title: "The sources' rate limits, or the limits on computing time, are used up.",
    detail: "Too few sources could be asked and read to tell if there is a value, and which. Try again in {seconds} s.",
    members: {
      keys: Type.Array(Type.String(), {
        description: "The keys whose sources are at their rate limits, or whose answers cannot be evaluated now.",
      }),
    },
  },
  source_unreachable: {
    status: [503],
    title: "The sources cannot be reached.",
    detail: "The network failed, so it is unknown if there is a value. Nothing was signed. Try again in {seconds} s.",
    members: { keys: Type.Array(Type.String(), { description: "The keys whose sources cannot be reached." }) },
  },
  registry_unavailable: {
    status: [503],
    title: "Published request specs cannot be read from the chain now.",
    detail: "The key could not be checked, and nothing was signed. Try again in {seconds} s.",
  },
} as const satisfies Record<string, ProviderProblem>;

export const problem = problemMaker(PROVIDER_PROBLEMS);

export const retryAfter = (seconds: number | bigint) => ({ headers: { "retry-after": String(seconds) } });
