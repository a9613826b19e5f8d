import { Agent, type buildConnector } from "undici";
import { type FetchFailure, type FetchLimits, type FetchRequest, type FetchResult, fetchText } from "../fetch.js";
import { FORBIDDEN_ADDRESS, guardedConnector } from "./connector.js";
import { parseHttpsUrl } from "./https-url.js";
import { type Resolve, resolveByDns } from "./resolve.js";
import { Secrets } from "./secrets.js";

/** `forbidden`: the request is not one that may be made. `busy`: too many are under way. Neither was sent. */
export type EgressFailure = FetchFailure | "forbidden" | "busy";

export type EgressResult =
  | Extract<FetchResult, { ok: true }>
  | { readonly ok: false; readonly failure: EgressFailure; readonly detail: string };

/** The most connections to one host: further requests wait for one, as long as their deadlines allow. */
const MAX_CONNECTIONS = 16;
/** The most requests that are under way or wait: to one host, and to all. */
const MAX_PER_HOST = 512;
const MAX_IN_ALL = 4_096;
/** The most hosts whose connections are kept. */
const MAX_HOSTS = 2_000;

export interface EgressOptions {
  /** For development: https origins, and the http addresses on this machine that are asked instead of them. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly secrets?: Secrets;
  readonly resolve?: Resolve;
  /** Opens the connections to addresses that were checked. */
  readonly dial?: buildConnector.connector;
}

/**
 * The one way out for requests whose urls strangers may have written: https to public hosts only, no redirects, a
 * bounded number at once. An origin that is overridden is asked on this machine, and gets no secrets.
 */
export class Egress {
  readonly #overrides: Readonly<Record<string, string>>;
  readonly #secrets: Secrets;
  readonly #guarded: Agent;
  readonly #local = new Agent();
  /** Requests under way, by host. */
  readonly #underWay = new Map<string, number>();
  #total = 0;

  constructor({ overrides = {}, secrets = Secrets.NONE, resolve = resolveByDns(), dial }: EgressOptions = {}) {
    this.#overrides = overrides;
    this.#secrets = secrets;
    this.#guarded = new Agent({
      connect: guardedConnector(resolve, dial),
      connections: MAX_CONNECTIONS,
      maxOrigins: MAX_HOSTS,
    });
  }

  /** Makes one request within limits. What is expected to go wrong is a result, and holds no secret. */
  async fetchText(request: FetchRequest, limits: FetchLimits, signal?: AbortSignal): Promise<EgressResult> {
    const url = parseHttpsUrl(request.url);
    if (!url.ok) return { ok: false, failure: "forbidden", detail: `cannot be asked: ${url.error}` };
    const { host, origin } = url.value;
    const underWay = this.#underWay.get(host) ?? 0;
    if (underWay >= MAX_PER_HOST || this.#total >= MAX_IN_ALL) {
      return { ok: false, failure: "busy", detail: "is not asked: too many requests are under way" };
    }
    this.#underWay.set(host, underWay + 1);
    this.#total += 1;
    try {
      const target = Object.hasOwn(this.#overrides, origin) ? this.#overrides[origin] : undefined;
      if (target !== undefined) {
        const local = { ...request, url: target + request.url.slice(origin.length) };
        return await fetchText(local, limits, this.#local, signal);
      }
      return this.#judge(await fetchText(this.#secrets.addTo(request), limits, this.#guarded, signal));
    } finally {
      const left = (this.#underWay.get(host) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(host);
      else this.#underWay.set(host, left);
      this.#total -= 1;
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#guarded.destroy(), this.#local.destroy()]);
  }

  #judge(answer: FetchResult): EgressResult {
    if (answer.ok) {
      const clean = (text: string) => this.#secrets.removeFrom(text);
      return { ...answer, contentType: clean(answer.contentType), text: clean(answer.text) };
    }
    if (answer.failure === "unreachable" && answer.detail === FORBIDDEN_ADDRESS) {
      return {
        ok: false,
        failure: "forbidden",
        detail: "cannot be asked: its name does not lead to public addresses only",
      };
    }
    return { ...answer, detail: this.#secrets.removeFrom(answer.detail) };
  }
}
