import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { LRUCache } from "lru-cache";
import { Agent, Pool } from "undici";
import type { FetchFailure, FetchFailureCode, FetchLimits, HttpAnswer } from "../process/fetch-result.js";
import { FORBIDDEN_ADDRESS, guardedConnector } from "./connector.js";
import { type FetchRequest, fetchText } from "./fetch-text.js";
import { parseHttpsUrl } from "./https-url.js";
import { resolveByDns } from "./resolve-by-dns.js";
import type { Secrets } from "./secrets.js";

/** `forbidden`: the request must not be made. `busy`: too many are in flight. Neither was sent. */
export type EgressFailure = FetchFailureCode | "forbidden" | "busy";

export type EgressResult = Result<HttpAnswer, FetchFailure<EgressFailure>>;

/** The default maximum number of connections to one host. Further requests wait for one, as long as their deadlines allow. */
export const MAX_CONNECTIONS = 16;
/** The maximum number of requests in flight or waiting, to one host and to all hosts. */
const MAX_PER_HOST = 512;
const MAX_IN_ALL = 4_096;
/** The maximum number of hosts whose connections are kept; the longest unused are closed first. */
const MAX_HOSTS = 500;

/** For development: maps https origins to http addresses on this machine that are asked instead. */
export type RedirectedOrigins = Readonly<Record<string, string>>;

interface EgressSettings {
  readonly redirectedOrigins?: RedirectedOrigins;
  /** The maximum number of requests in flight or waiting, to all hosts. */
  readonly maxInFlight?: number;
  /** The maximum number of connections to one host. */
  readonly connections?: number;
}

/**
 * Makes every request whose url anyone may have written: https to public hosts only, no redirects, a bounded number at
 * once. This is not left to the HTTP library, so that the check and the connection use the same resolved address. A
 * redirected origin is asked on this machine, and gets no secrets.
 */
export class Egress {
  /** By origin. An Agent would keep every origin whose host keeps its connections open, and then refuse new ones. */
  readonly #pools = new LRUCache<string, Pool>({ max: MAX_HOSTS, dispose: (pool) => void pool.close() });
  readonly #settings: Required<EgressSettings>;
  readonly #local = new Agent();
  /** The number of requests in flight, by host. */
  readonly #inFlight = new Map<string, number>();
  #total = 0;

  constructor(
    private readonly secrets: Secrets,
    settings: EgressSettings = {},
    private readonly connect = guardedConnector(resolveByDns()),
  ) {
    this.#settings = { redirectedOrigins: {}, maxInFlight: MAX_IN_ALL, connections: MAX_CONNECTIONS, ...settings };
  }

  /** Makes one request within limits. Neither an answer nor a failure contains a secret. */
  async fetchText(request: FetchRequest, limits: FetchLimits, signal?: AbortSignal): Promise<EgressResult> {
    const url = parseHttpsUrl(request.url);
    if (!url.ok) return err({ code: "forbidden", detail: `cannot be asked: ${url.error.replace(/\.$/, "")}` });
    const { host, origin } = url.value;
    const { redirectedOrigins, maxInFlight } = this.#settings;
    const inFlight = this.#inFlight.get(host) ?? 0;
    if (inFlight >= MAX_PER_HOST || this.#total >= maxInFlight) {
      return err({ code: "busy", detail: "is not asked: too many requests are in flight" });
    }
    this.#inFlight.set(host, inFlight + 1);
    this.#total += 1;
    try {
      const target = Object.hasOwn(redirectedOrigins, origin) ? redirectedOrigins[origin] : undefined;
      if (target !== undefined) {
        const local = { ...request, url: target + request.url.slice(origin.length) };
        return await fetchText(local, limits, this.#local, signal);
      }
      return this.#redact(await fetchText(this.secrets.addTo(request), limits, this.#poolOf(origin), signal));
    } finally {
      const left = (this.#inFlight.get(host) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(host);
      else this.#inFlight.set(host, left);
      this.#total -= 1;
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([...[...this.#pools.values()].map((pool) => pool.destroy()), this.#local.destroy()]);
  }

  #poolOf(origin: string): Pool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, { connect: this.connect, connections: this.#settings.connections });
    this.#pools.set(origin, pool);
    return pool;
  }

  #redact(answer: EgressResult): EgressResult {
    const clean = (text: string) => this.secrets.removeFrom(text);
    if (answer.ok) {
      const { contentType, text } = answer.value;
      return ok({ ...answer.value, contentType: clean(contentType), text: clean(text) });
    }
    const { code, detail } = answer.error;
    if (code === "unreachable" && detail === FORBIDDEN_ADDRESS) {
      return err({ code: "forbidden", detail: "cannot be asked: its name resolves to an address that is not public" });
    }
    return err({ ...answer.error, detail: clean(detail) });
  }
}
