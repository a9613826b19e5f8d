import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { callerIdOf } from "./caller-id.js";

const MAX_URL = 256;
const SAMPLE_MS = 1_000;
/** The maximum number of one caller's refusals with the same problem that are logged in one second. */
const SAMPLES = 10;
/** The maximum number of pairs of a caller and a problem whose refusals are logged in one second. */
const MAX_SAMPLED = 100;

/** Refusals with the same problem of one caller in one second, or of all callers beyond `MAX_SAMPLED`. */
interface Sampled {
  readonly ip?: string;
  readonly code?: string;
  count: number;
}

/** The id of the callers beyond `MAX_SAMPLED`. */
const OTHERS = "";

/**
 * Logs answered requests, each in one line. Refusals cost their caller nothing, so their lines could fill the disk. Of
 * one caller's refusals with the same problem, only ten are logged in a second, and then the number of the others.
 */
export class RequestLog {
  readonly #sampled = new Map<string, Sampled>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly logger: Pick<FastifyBaseLogger, "info">) {}

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const isRefused = reply.statusCode >= 400 && reply.statusCode < 500;
    if (isRefused && !this.#isSample(request)) return;
    this.logger.info(requestLine(request, reply), "request");
  }

  /** Logs how many refusals of the current second were not logged, and starts the counts again. */
  flush(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    for (const { count, ...who } of this.#sampled.values()) {
      if (count > SAMPLES) this.logger.info({ ...who, suppressed: count - SAMPLES }, "more requests refused");
    }
    this.#sampled.clear();
  }

  #isSample({ ip, problemCode: code }: FastifyRequest): boolean {
    this.#timer ??= setTimeout(() => this.flush(), SAMPLE_MS).unref();
    const caller = callerIdOf(ip);
    const own = `${caller} ${code}`;
    const id = this.#sampled.has(own) || this.#sampled.size < MAX_SAMPLED ? own : OTHERS;
    const sampled = this.#sampled.get(id) ?? (id === OTHERS ? { count: SAMPLES } : { ip: caller, code, count: 0 });
    this.#sampled.set(id, sampled);
    return ++sampled.count <= SAMPLES;
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
