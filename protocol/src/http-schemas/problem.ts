/** The schema of errors. */

import { type Static, Type } from "@sinclair/typebox";

/** RFC 9457 problem details: the body of every error. */
export const Problem = Type.Object({
  title: Type.String({ description: "What is wrong, in one sentence." }),
  status: Type.Integer(),
  code: Type.String({ description: "A stable code, for programs." }),
  detail: Type.String({ description: "The details, and how to fix the problem." }),
});
export type Problem = Static<typeof Problem>;

export const PROBLEM_CONTENT_TYPE = "application/problem+json";
