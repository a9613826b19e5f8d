import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import {
  OPERATOR_PROBLEM_CODES,
  OPERATOR_PROBLEMS,
  type OperatorProblemCode,
  type OperatorRoute,
  operatorProblemCodesOf,
} from "@dataset-oracle/protocol/operator-problem";
import { problemResponses } from "@dataset-oracle/service/http-server/openapi";
import { Type } from "@sinclair/typebox";

const MEMBERS = Object.fromEntries(OPERATOR_PROBLEM_CODES.map((code) => [code, OPERATOR_PROBLEMS[code].members]));

/** Describes the problems that a route can answer. */
export const problemsOf = (route: OperatorRoute) => problemResponses([operatorProblemCodesOf(route)], MEMBERS);

/** Describes the errors of a route of the gateway, in the form of ERC-3668; a rate limit as 503 (`statusOf`). */
export function gatewayErrorsOf(route: OperatorRoute, statusOf: (status: number) => number) {
  const byStatus = new Map<number, OperatorProblemCode[]>();
  for (const [status, codes] of Object.entries(operatorProblemCodesOf(route))) {
    const answered = statusOf(Number(status));
    byStatus.set(answered, [...(byStatus.get(answered) ?? []), ...codes]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const code = oneOf(codes, "A stable code, for programs.");
      const message = Type.String({ description: "What went wrong, and how to fix it." });
      const schema = Type.Object({ message, code });
      return [
        status,
        { description: `The error is ${codes.join(" or ")}.`, content: { "application/json": { schema } } },
      ];
    }),
  );
}
