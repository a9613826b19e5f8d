import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { callerAt } from "./caller.js";

const MAX_URL = 256;
const SAMPLE_MS = 1_000;
/** Of how many callers and problems refusals are logged in one second. */
const MAX_SAMPLED = 100;

interface Sampled {
  readonly ip: string;
  readonly code: string;
  /** How many refusals were not logged. */
  suppressed: number;
}

/**
 * Logs answered requests, each in one line. Refusals cost their caller nothing, so they could fill the disk: of each
 * caller's refusals with the same problem one is logged in a second, and then the number of the others.
 */
export class RequestLog {
  readonly #sampled = new Map<string, Sampled>();
  /** Refusals of callers beyond `MAX_SAMPLED`. */
  #unsampled = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly logger: Pick<FastifyBaseLogger, "info">) {}

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const isRefused = reply.statusCode >= 400 && reply.statusCode < 500;
    if (isRefused && !this.#isSample(request)) return;
    this.logger.info(requestLine(request, reply), "request");
  }

  /** Logs the refusals of the current second. */
  flush(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    for (const sampled of this.#sampled.values()) {
      if (sampled.suppressed > 0) this.logger.info({ ...sampled }, "more requests refused");
    }
    if (this.#unsampled > 0) this.logger.info({ suppressed: this.#unsampled }, "more requests refused");
    this.#sampled.clear();
    this.#unsampled = 0;
  }

  #isSample({ ip, problemCode: code }: FastifyRequest): boolean {
    this.#timer ??= setTimeout(() => this.flush(), SAMPLE_MS).unref();
    const caller = callerAt(ip);
    const id = `${caller} ${code}`;
    const known = this.#sampled.get(id);
    if (known !== undefined) known.suppressed++;
    else if (this.#sampled.size >= MAX_SAMPLED) this.#unsampled++;
    else this.#sampled.set(id, { ip: caller, code, suppressed: 0 });
    return known === undefined && this.#sampled.has(id);
  }
}

/** Returns the log fields of an answered request. pino leaves out those that are undefined. */
function requestLine({ trace, method, url, ip, problemCode }: FastifyRequest, reply: FastifyReply) {
  return {
    request_id: trace?.requestId,
    trace_id: trace?.traceId,
    method,
    url: url.length > MAX_URL ? `${url.slice(0, MAX_URL)}...` : url,
    ip,
    status: reply.statusCode,
    code: problemCode || undefined,
    ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
  };
}
