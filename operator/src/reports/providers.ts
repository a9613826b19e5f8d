import { isLocalUrl } from "@dataset-oracle/protocol/base-url";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import type { Result } from "@dataset-oracle/protocol/result";
import { type Clock, type Context, withDeadline } from "@dataset-oracle/service/process/context";
import type { FetchFailure, FetchLimits, HttpAnswer } from "@dataset-oracle/service/process/fetch-result";
import { postText } from "@dataset-oracle/service/trusted/post-text";
import { certificateEnd } from "@dataset-oracle/service/untrusted/certificate-end";
import { Egress, type EgressFailure } from "@dataset-oracle/service/untrusted/egress";
import { Secrets } from "@dataset-oracle/service/untrusted/secrets";
import type { Histogram } from "prom-client";
import type { Address } from "viem";
import { type Fail, type Failure, isFailure, type ProviderFailures } from "./failures.js";
import { Lane } from "./lane.js";
import type { ProviderUrls } from "./provider-urls.js";

/**
 * The codes by which a provider refuses a key that it does not serve, each with what can be done about it. All but the
 * first concern Web Oracle keys.
 */
export const KEY_REFUSALS: Readonly<Record<string, string>> = {
  unknown_key: "GET /datasets, under the operator's base URL, lists the known keys.",
  invalid_spec: "Fix the key's request spec, and publish it again: it has other keys then.",
  invalid_arguments: '"provider key" prints the right key.',
  other_kind: "Request the key from the other of the two Web Oracle datasets.",
  host_not_allowed: "Ask the providers' owners to allow the hosts of the key's request spec.",
};

/** Completes the sentence "The provider ...". */
const NO_URL =
  "has no endpoint that this operator knows: the operator's owner must add it to `providers`, or the provider's " +
  "owner announce it";

/** What each provider of a committee is asked. */
export interface Question<T> {
  readonly path: "/report" | "/report/batch";
  /** True if no caller is behind it: callers cannot take the places of such questions. */
  readonly isOwn: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly limits: FetchLimits;
  /** Reads an answer with status 200. It trusts nothing that the provider did not sign. */
  readonly read: (json: unknown, provider: Address, fail: Fail) => T | Failure;
}

/** How many questions to one provider are in flight at once: of callers, and as many of the operator itself. */
const PLACES = 32;
/** How many more wait for a place, for as long as an answer may take. */
const MAX_WAITING = 1_024;

/** The data providers of one network, as the operator asks them. */
export class Providers {
  readonly #lanes = new Map<string, Lane>();

  constructor(
    private readonly chainId: number,
    readonly urls: ProviderUrls,
    readonly failures: ProviderFailures,
    private readonly http: GuardedHttp,
    private readonly durations: Histogram<"network" | "provider" | "outcome">,
    private readonly clock: Clock,
  ) {}

  /** Asks one provider. It never throws: one member's failure must not keep the reports of the others from being used. */
  async ask<T extends { readonly kind: string }>(
    question: Question<T>,
    provider: Address,
    signal: AbortSignal,
  ): Promise<T | Failure> {
    const lane = this.#laneOf(provider, question.isOwn);
    const hasEntered = await withDeadline(question.limits.timeoutMs, signal, (ended) => lane.enter(ended));
    const startedAt = this.clock.monotonic();
    const answer = hasEntered ? await this.#ask(question, provider, signal) : notAsked(provider, null);
    if (hasEntered) lane.leave();
    const labels = { network: this.chainId, provider, outcome: isFailure(answer) ? answer.reason : "ok" };
    this.durations.observe(labels, (this.clock.monotonic() - startedAt) / 1000);
    this.failures.record(provider, answer, question.isOwn);
    return answer;
  }

  #laneOf(provider: Address, isOwn: boolean): Lane {
    const name = `${provider} ${isOwn}`;
    const lane = this.#lanes.get(name) ?? new Lane({ places: PLACES, maxWaiting: MAX_WAITING });
    this.#lanes.set(name, lane);
    return lane;
  }

  async #ask<T>(question: Question<T>, provider: Address, signal: AbortSignal): Promise<T | Failure> {
    let host: string | null = null;
    const fail: Fail = (reason, detail) => {
      return { kind: "failure", provider, host, reason, detail, code: null, refuses: null };
    };
    try {
      const base = this.urls.urlOf(provider);
      if (base === undefined) return fail("no_endpoint", NO_URL);
      host = new URL(base).host;
      const { path, limits, body, read } = question;
      const headers = { accept: "application/json", ...question.headers };
      const answer = await this.http.post(base, path, headers, body, limits, signal);
      if (!answer.ok) {
        const { code, isCertificateRefused } = answer.error;
        if (code === "aborted") return fail("late", "did not respond before the grace period ended");
        if (code === "busy") return notAsked(provider, host);
        const reason = isCertificateRefused ? "certificate" : code === "forbidden" ? "unreachable" : code;
        return fail(reason, describeFetchFailure(answer.error));
      }
      const { status, text } = answer.value;
      const json = parseJson(text);
      return status === 200 ? read(json, provider, fail) : refusal(status, json, fail);
    } catch (error) {
      host = null;
      return fail("unexpected", `could not be asked (${error instanceof Error ? error.name : "an error"})`);
    }
  }
}

/** Too much is in flight, which says nothing of the provider. */
function notAsked(provider: Address, host: string | null): Failure {
  const detail = "was not asked: too many requests to it are in flight";
  return { kind: "failure", provider, host, reason: "not_asked", detail, code: null, refuses: null };
}

/** Describes an answer with another status than 200. */
function refusal(status: number, json: unknown, fail: Fail): Failure {
  const code = problemCode(json);
  const isAboutSources = code === "source_busy" || code === "source_unreachable";
  const reason = isAboutSources ? code : "refused";
  const failure = { ...fail(reason, `answered HTTP ${status}${code === null ? "" : ` (${code})`}`), code };
  if (Object.hasOwn(KEY_REFUSALS, code ?? "")) return { ...failure, refuses: "key" };
  // 408 and 429 are about the caller or the moment, and every other 4xx about what was asked.
  const isAboutQuestion = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return { ...failure, refuses: isAboutQuestion || isAboutSources ? "question" : null };
}

/** Returns a problem's code if it looks like one: nothing else that a provider writes may reach a caller. */
function problemCode(json: unknown): string | null {
  const code = (json as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : null;
}

/** Completes the sentence "The provider ...". */
function describeFetchFailure({ code, detail }: FetchFailure<EgressFailure>): string {
  if (code === "unreachable") return `could not be reached (${detail})`;
  return code === "timeout" ? `gave ${detail}` : detail;
}

interface GuardedHttpSettings {
  /** The base URLs in the configuration. */
  readonly configured: ReadonlySet<string>;
  /** True for a development network, whose providers may be announced on this machine. */
  readonly allowsLocal: boolean;
}

/**
 * Asks providers. A URL that the operator's owner has configured is asked wherever it is. An announced one was chosen by
 * a stranger, so it is asked only over https, at a public host.
 */
export class GuardedHttp {
  /** @param egress Asks announced URLs. It is closed with everything else. */
  constructor(
    private readonly context: Pick<Context, "closing" | "dispatcher">,
    private readonly settings: GuardedHttpSettings,
    // `Providers` bounds what is in flight, by the size of the committee.
    private readonly egress = new Egress(Secrets.NONE, {
      maxInFlight: Number.POSITIVE_INFINITY,
      connections: 2 * PLACES,
    }),
  ) {
    context.closing.addEventListener("abort", () => void egress.close());
  }

  /** Posts JSON, without following redirects. */
  post(
    base: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    limits: FetchLimits,
    signal: AbortSignal,
  ): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.#isTrusted(base)) return postText({ url, headers, body }, limits, this.context.dispatcher, signal);
    const all = { "content-type": "application/json", ...headers };
    return this.egress.fetchText({ url, method: "POST", headers: all, body }, limits, signal);
  }

  /** Reads until when a provider's certificate is valid, in milliseconds since 1970; null if it has none to be read. */
  certificateEnd(base: string): Promise<number | null> {
    return certificateEnd(base, this.#isTrusted(base));
  }

  /** The owner chose the URL, or allows providers on this machine. */
  #isTrusted(base: string): boolean {
    const { configured, allowsLocal } = this.settings;
    return configured.has(base) || (allowsLocal && isLocalUrl(base));
  }
}
