import type { Address } from "viem";
import { describeFetchFailure } from "./describe-fetch-failure.js";
import type { Fail, Failure } from "./failure.js";
import type { AnsweredOrNot } from "./post-question.js";
import type { ProviderUrls } from "./provider-urls.js";

/** The codes by which a provider refuses a key that it does not serve; all but the first concern Web Oracle keys. */
const NOT_SERVED = ["unknown_key", "invalid_spec", "invalid_arguments", "other_kind", "host_not_allowed"];

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
