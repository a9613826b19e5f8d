import { OPERATOR_PROBLEM_MEMBERS, type OperatorProblemCode } from "@dataset-oracle/protocol/operator-problem";
import { problemResponses } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";

type Codes = Readonly<Record<number, readonly OperatorProblemCode[]>>;

/** The problems of an operation that counts against a rate limit. */
const LIMITED: Codes = { 429: ["too_many_requests"] };

/** The problems of an operation that reads the chain. */
const CHAIN: Codes = { 502: ["rpc_failed"], 503: ["shutting_down"], 504: ["rpc_timeout"] };

/** The problems of an operation about a dataset. */
const DATASET: Codes = { 404: ["unknown_dataset"], 422: ["unknown_network"] };

/** The problems of an operation that only its rate limit can refuse. */
export const LIMITED_PROBLEMS = problemResponses([LIMITED]);

/** The problems of an operation that reads the chain. */
export const chainProblems = (own: Codes = {}) => problemResponses([LIMITED, CHAIN, own], OPERATOR_PROBLEM_MEMBERS);

/** The problems of an operation about a data point. */
export const dataPointProblems = (...own: Codes[]) =>
  problemResponses([LIMITED, DATASET, { 422: ["invalid_key"] }, ...own, CHAIN], OPERATOR_PROBLEM_MEMBERS);

/** The problems of an operation that is about a dataset and does not read the chain. */
export const datasetProblems = (...own: Codes[]) =>
  problemResponses([LIMITED, DATASET, ...own], OPERATOR_PROBLEM_MEMBERS);

/** The errors of a gateway, in the form of ERC-3668. */
export const gatewayErrors = (codes: Codes) =>
  Object.fromEntries(
    Object.entries(codes).map(([status, all]) => {
      const code = Type.Union(
        all.map((each) => Type.Literal(each)),
        { description: "A stable code, for programs." },
      );
      const message = Type.String({ description: "What went wrong, and how to fix it." });
      const schema = Type.Object({ message, code });
      return [
        status,
        { description: `The error is ${all.join(" or ")}.`, content: { "application/json": { schema } } },
      ];
    }),
  );

/** The problem of a query that is not valid, by status. */
export const INVALID_QUERY = { 400: ["invalid_query"] } as const;
