import { ANY_BODY, problemResponses } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";

/** The members that the bodies of these problems have in addition to those of every problem, by code. */
const MEMBERS = {
  invalid_body: {
    errors: Type.Optional(Type.Array(Type.Object({ property: Type.String(), problem: Type.String() }))),
  },
  unknown_network: { served: Type.Array(Type.Integer()) },
  source_busy: {
    keys: Type.Array(Type.String(), {
      description: "The keys whose sources are at their rate limits, or whose answers cannot be evaluated now.",
    }),
  },
};

const LIMITED = { 429: ["too_many_requests"] } as const;

/** The problems of a request for a report, or for a row of a batch. */
export const REPORT_PROBLEMS = problemResponses(
  [
    ANY_BODY,
    {
      400: ["invalid_address"],
      404: ["unknown_dataset"],
      422: [
        ...["unknown_network", "invalid_key", "unknown_key", "round_too_old", "round_in_future"],
        ...["invalid_spec", "invalid_arguments", "other_kind", "host_not_allowed"],
      ],
      429: ["too_many_requests", "too_many_rounds"],
      503: ["round_forgotten", "not_ready", "source_busy", "registry_unavailable"],
    },
  ],
  MEMBERS,
);

export const LIVE_PROBLEMS = problemResponses([LIMITED]);
export const READY_PROBLEMS = problemResponses([LIMITED, { 503: ["not_ready"] }]);
