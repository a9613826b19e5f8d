import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { callerIdOf } from "./caller-id.js";

const MAX_URL = 256;
const SAMPLE_MS = 1_000;
/** The maximum number of one caller's refusals with the same problem that are logged in one second. */
const SAMPLES = 10;
/** The maximum number of pairs of a caller and a problem whose refusals are logged in one second. */
const MAX_SAMPLED = 100;

interface Sampled {
  readonly ip: string;
  readonly code: string;
  logged: number;
  /** How many refusals were not logged. */
  suppressed: number;
}

/**
 * Logs answered requests, each in one line. Refusals cost their caller nothing, so their lines could fill the disk. Of
 * one caller's refusals with the same problem, only ten are logged in a second, and then the number of the others.
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

  /** Logs how many refusals of the current second were not logged, and starts the counts again. */
  flush(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    for (const { ip, code, suppressed } of this.#sampled.values()) {
      if (suppressed > 0) this.logger.info({ ip, code, suppressed }, "more requests refused");
    }
    if (this.#unsampled > 0) this.logger.info({ suppressed: this.#unsampled }, "more requests refused");
    this.#sampled.clear();
    this.#unsampled = 0;
  }

  #isSample({ ip, problemCode: code }: FastifyRequest): boolean {
    this.#timer ??= setTimeout(() => this.flush(), SAMPLE_MS).unref();
    const caller = callerIdOf(ip);
    const id = `${caller} ${code}`;
    let sampled = this.#sampled.get(id);
    if (sampled === undefined) {
      if (this.#sampled.size >= MAX_SAMPLED) {
        this.#unsampled++;
        return false;
      }
      sampled = { ip: caller, code, logged: 0, suppressed: 0 };
      this.#sampled.set(id, sampled);
    }
    if (sampled.logged >= SAMPLES) {
      sampled.suppressed++;
      return false;
    }
    sampled.logged++;
    return true;
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
