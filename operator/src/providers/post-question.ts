import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import type { EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, FetchLimits } from "@dataset-oracle/service/http-client/fetch-result";
import type { GuardedHttp } from "../peers/guarded-http.js";

/** A provider's answer: the HTTP status, and the body; null if it is not JSON. */
export interface Answered {
  readonly status: number;
  readonly json: unknown;
}

export type AnsweredOrNot = Result<Answered, FetchFailure<EgressFailure>>;

/** Posts a question to the provider at a base URL. */
export async function postQuestion(
  http: GuardedHttp,
  base: string,
  { path, headers, body, limits }: Posted,
  signal: AbortSignal,
): Promise<AnsweredOrNot> {
  const answer = await http.post(base, path, { accept: "application/json", ...headers }, body, limits, signal);
  return answer.ok ? ok({ status: answer.value.status, json: parseJson(answer.value.text) }) : answer;
}

/** A question as it is posted. */
export interface Posted {
  readonly path: "/report" | "/report/batch" | "/evidence" | "/specs/try" | "/specs/advise";
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly limits: FetchLimits;
}
