import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import type { EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, FetchLimits } from "@dataset-oracle/service/http-client/fetch-result";
import type { Address } from "viem";
import type { GuardedHttp } from "../peers/guarded-http.js";
import { describeFetchFailure } from "./describe-fetch-failure.js";
import type { ProviderUrls } from "./provider-urls.js";

/** The reasons why a provider's answer is not used. Stable, because programs read them. */
export const FAILURE_REASONS = [
  "no_endpoint",
  "unreachable",
  "timeout",
  "late",
  "redirected",
  "too_large",
  "not_text",
  "refused",
  "source_busy",
  "invalid_report",
  "other_report",
  "value_too_large",
  "wrong_signer",
  "contradicted",
  "unexpected",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The codes by which a provider refuses a key that it does not serve; all but the first concern Web Oracle keys. */
const NOT_SERVED = ["unknown_key", "invalid_spec", "invalid_arguments", "other_kind", "host_not_allowed"];

/** A provider's answer that cannot be used. `detail` completes the sentence "The provider ...". */
export interface Failure {
  readonly kind: "failure";
  readonly provider: Address;
  /** Null when the operator has no endpoint for the provider, and for the reason `unexpected`. */
  readonly host: string | null;
  readonly reason: FailureReason;
  readonly detail: string;
  /** The code of the problem that the provider answered with; null if it did not. */
  readonly code: string | null;
  /**
   * Set when a provider that works refuses: a key that it does not serve, or this question, while it may answer one
   * about other keys. Null for every other failure.
   */
  readonly refuses: "key" | "question" | null;
}

/** Tells a failure from an answer that can be used. */
export function isFailure(answer: { readonly kind: string }): answer is Failure {
  return answer.kind === "failure";
}

export type Fail = (reason: FailureReason, detail: string) => Failure;

/** A question to a provider, or to each member of a committee. */
export interface ProviderRequest<T> {
  /** Sends the question to a provider's base URL. It has a deadline. */
  readonly send: (base: string, signal: AbortSignal) => Promise<AnsweredOrNot>;
  /** Reads an answer with status 200. It trusts nothing that the provider did not sign. */
  readonly read: (json: unknown, provider: Address, fail: Fail) => T | Failure;
  /**
   * Reads a problem that the caller may see; null for any other. Without it, callers see no more than a problem's code.
   */
  readonly readProblem?: (json: unknown) => T | null;
}

/** Asks one provider. It never throws: one member's failure must not keep the reports of the others from being used. */
export async function askProvider<T>(
  request: ProviderRequest<T>,
  provider: Address,
  urls: ProviderUrls,
  signal: AbortSignal,
): Promise<T | Failure> {
  try {
    const endpoint = urls.urlOf(provider);
    const host = endpoint === undefined ? null : new URL(endpoint).host;
    const fail: Fail = (reason, detail) => {
      return { kind: "failure", provider, host, reason, detail, code: null, refuses: null };
    };
    if (endpoint === undefined) return fail("no_endpoint", urls.whyUnknown(provider));

    const answer = await request.send(endpoint, signal);
    if (!answer.ok) {
      const { code } = answer.error;
      if (code === "aborted") return fail("late", "did not respond before the grace period ended");
      const reason = code === "forbidden" || code === "busy" ? "unreachable" : code;
      return fail(reason, describeFetchFailure(answer.error));
    }
    const { status, json } = answer.value;
    if (status === 200) return request.read(json, provider, fail);
    const problem = request.readProblem?.(json) ?? null;
    if (problem !== null) return problem;
    const code = problemCode(json);
    const reason = code === "source_busy" ? code : "refused";
    const failure = { ...fail(reason, `answered HTTP ${status}${code === null ? "" : ` (${code})`}`), code };
    if (NOT_SERVED.includes(code ?? "")) return { ...failure, refuses: "key" };
    // 408 and 429 are about the caller or the moment, and every other 4xx about what was asked.
    const isAboutQuestion = status >= 400 && status < 500 && status !== 408 && status !== 429;
    return { ...failure, refuses: isAboutQuestion || code === "source_busy" ? "question" : null };
  } catch (error) {
    const name = error instanceof Error ? error.name : "an error";
    const detail = `could not be asked (${name})`;
    return { kind: "failure", provider, host: null, reason: "unexpected", detail, code: null, refuses: null };
  }
}

/** Returns a problem's code if it looks like one: nothing else that a provider writes may reach a caller. */
function problemCode(json: unknown): string | null {
  const code = (json as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : null;
}

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
