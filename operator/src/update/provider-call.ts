import { postText } from "@dataset-oracle/service/post";
import type { Address } from "viem";

/** Stable, for programs. */
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
  "unexpected",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What a provider answers for a key that it does not serve; all but the first are about the Web Oracle's keys. */
const NOT_SERVED = ["unknown_key", "invalid_spec", "invalid_arguments", "other_kind", "host_not_allowed"];

/** How a provider's answer failed. `detail` completes the sentence "The provider ...". */
export interface Failure {
  readonly kind: "unknown_key" | "failure";
  readonly provider: Address;
  /** Null when the operator has no endpoint for it. */
  readonly host: string | null;
  readonly reason: FailureReason;
  readonly detail: string;
}

/** One member of a committee, and how it is asked. */
export interface Asked {
  readonly provider: Address;
  /** Undefined when the operator has none for it. */
  readonly endpoint: string | undefined;
  /** That say for which request it is asked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Is told how long it took, and the outcome: `ok`, or the reason of the failure. */
  readonly observe: (provider: Address, outcome: string, seconds: number) => void;
}

/** What a provider's answer is refused for. */
export type Refuse = (reason: FailureReason, detail: string) => Failure;

/**
 * Asks one member of a committee. Whatever goes wrong is that member's failure, so that it cannot keep what the others
 * signed from being used.
 *
 * @param path Below the endpoint.
 * @param read What comes of an answer with status 200. It believes nothing that is not signed by that member.
 */
export async function callProvider<A extends { readonly kind: string }>(
  asked: Asked,
  path: string,
  body: unknown,
  maxBytes: number,
  read: (json: unknown, refuse: Refuse) => A | Failure,
): Promise<A | Failure> {
  const begun = performance.now();
  const answer = await call(asked, path, body, maxBytes, read);
  const outcome = "reason" in answer ? answer.reason : "ok";
  asked.observe(asked.provider, outcome, (performance.now() - begun) / 1000);
  return answer;
}

async function call<A>(
  { provider, endpoint, headers, timeoutMs, signal }: Asked,
  path: string,
  body: unknown,
  maxBytes: number,
  read: (json: unknown, refuse: Refuse) => A | Failure,
): Promise<A | Failure> {
  try {
    const host = endpoint === undefined ? null : new URL(endpoint).host;
    const refuse: Refuse = (reason, detail) => ({ kind: "failure", provider, host, reason, detail });
    if (endpoint === undefined) return refuse("no_endpoint", "has no endpoint in this operator's configuration");

    const all = { accept: "application/json", ...headers };
    const limits = { timeoutMs, maxBytes };
    const answer = await postText(`${endpoint}${path}`, all, JSON.stringify(body), limits, signal);
    if (!answer.ok) {
      if (answer.failure === "aborted") return refuse("late", "had not answered when the others' time was over");
      if (answer.failure === "unreachable") return refuse("unreachable", `could not be reached (${answer.detail})`);
      if (answer.failure === "timeout") return refuse("timeout", `gave ${answer.detail}`);
      return refuse(answer.failure, answer.detail);
    }
    const json = parseJson(answer.text);
    if (answer.status === 200) return read(json, refuse);
    const code = problemCode(json);
    const reason = code === "source_busy" ? code : "refused";
    const refusal = refuse(reason, `answered HTTP ${answer.status}${code === null ? "" : ` (${code})`}`);
    return NOT_SERVED.includes(code ?? "") ? { ...refusal, kind: "unknown_key" } : refusal;
  } catch (error) {
    const name = error instanceof Error ? error.name : "an error";
    return { kind: "failure", provider, host: null, reason: "unexpected", detail: `could not be asked (${name})` };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A problem's code, if it looks like one: nothing else that a provider writes reaches a caller. */
function problemCode(json: unknown): string | null {
  const code = (json as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : null;
}
