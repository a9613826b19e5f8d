import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { orNull } from "./http-schemas/fields.js";
import type { Problem } from "./http-schemas/problem.js";

/** A data provider's failure to answer an operator. */
const ProviderFailure = Type.Object({
  provider: Type.String({ description: "The provider's address." }),
  host: orNull(Type.String(), "The host of its endpoint; null if the operator has none."),
  reason: Type.String({ description: "Stable, for programs." }),
  detail: Type.String({ description: 'Completes the sentence "The provider ...".' }),
});
export type ProviderFailure = Static<typeof ProviderFailure>;

/** The codes of an operator's problems, each with the members of its body besides those of every problem. */
export const OPERATOR_PROBLEM_MEMBERS = {
  invalid_body: { errors: Type.Array(Type.Object({ property: Type.String(), problem: Type.String() })) },
  invalid_query: {},
  bad_request: {},
  unknown_dataset: {},
  no_such_path: {},
  method_not_allowed: {},
  body_too_large: {},
  unsupported_media_type: {},
  unknown_network: { served_network_ids: Type.Array(Type.Integer()) },
  invalid_key: {},
  unknown_node: {},
  invalid_transaction: {},
  range_too_wide: {},
  unknown_provider: {},
  no_evidence: {},
  evidence_failed: {},
  invalid_spec: {
    errors: Type.Array(
      Type.Object({ property: Type.String({ description: "A JSON pointer into the spec." }), problem: Type.String() }),
    ),
  },
  invalid_arguments: {},
  host_not_allowed: {},
  trials_off: {},
  trials_busy: {},
  trial_failed: {},
  unknown_key: { failures: Type.Optional(Type.Array(ProviderFailure)) },
  broadcast_unavailable: {},
  too_many_requests: {},
  too_many_broadcasts: {},
  gas_budget_spent: {},
  internal_error: {},
  rpc_failed: {},
  no_quorum: { failures: Type.Array(ProviderFailure) },
  update_reverted: { error: orNull(Type.String(), "The dataset's named error.") },
  out_of_funds: {},
  fees_too_high: {},
  not_ready: {},
  shutting_down: {},
  rpc_timeout: {},
} as const satisfies Record<string, TProperties>;

/** The code of an operator's problem. */
export type OperatorProblemCode = keyof typeof OPERATOR_PROBLEM_MEMBERS;
/** All codes of an operator's problems. */
export const OPERATOR_PROBLEM_CODES = Object.keys(OPERATOR_PROBLEM_MEMBERS) as OperatorProblemCode[];

/** An operator's problem: RFC 9457 problem details, discriminated by `code`. */
export type OperatorProblem = {
  [Code in OperatorProblemCode]: Problem & { code: Code } & Static<
      ReturnType<typeof Type.Object<(typeof OPERATOR_PROBLEM_MEMBERS)[Code]>>
    >;
}[OperatorProblemCode];
