import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { callerIdOf, isLocalAddress } from "./caller-address.js";

const MAX_URL = 256;
const WINDOW_MS = 60_000;
/** The maximum number of one caller's requests in a minute that are logged. */
const MAX_LOGGED = 20;
/** The maximum number of callers whose requests are logged in a minute. */
const MAX_CALLERS = 1_000;

/** The requests of one caller in one minute, or of all callers beyond `MAX_CALLERS`. */
interface Counted {
  readonly ip?: string;
  /** True for an address of this machine or its network. */
  readonly isLocal?: boolean;
  logged: number;
  /** How many were not logged, by the code of their problems; `ok` without one. */
  readonly suppressed: Map<string, number>;
}

/** If as many requests in a minute come from a local address, and none from others, it is taken for a proxy's. */
const MANY_FROM_PROXY = 30;

/** The id of the callers beyond `MAX_CALLERS`. */
const OTHERS = "";

/**
 * Logs answered requests, each in one line. Anyone can make requests, so their lines could fill the disk: of one
 * caller's requests in a minute, twenty are logged, with all lines that they cause, and then the number of the others.
 */
export class RequestLog {
  readonly #callers = new Map<string, Counted>();
  #timer: NodeJS.Timeout | null = null;
  /** True once it has warned, or a caller was recognized. */
  #knowsCallers = false;

  /** @param isUnlimited Returns true for the addresses of callers whose requests are all logged. */
  constructor(
    private readonly logger: Pick<FastifyBaseLogger, "info" | "warn">,
    private readonly isUnlimited: (address: string) => boolean,
  ) {}

  /** Counts a request that begins, and tells whether it is logged. */
  begin(ip: string): boolean {
    if (this.isUnlimited(ip)) {
      this.#knowsCallers = true;
      return true;
    }
    const caller = this.#countedFor(ip);
    return ++caller.logged <= MAX_LOGGED;
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { trace, ip, problemCode } = request;
    if (trace?.isLogged ?? this.begin(ip)) return void this.logger.info(requestLine(request, reply), "request");
    const { suppressed } = this.#countedFor(ip);
    const outcome = problemCode || "ok";
    suppressed.set(outcome, (suppressed.get(outcome) ?? 0) + 1);
  }

  /** Logs how many requests of the current minute were not logged, and starts the counts again. */
  flush(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    for (const { ip, suppressed } of this.#callers.values()) {
      if (suppressed.size === 0) continue;
      const count = [...suppressed.values()].reduce((sum, each) => sum + each, 0);
      this.logger.info({ ip, suppressed: count, outcomes: Object.fromEntries(suppressed) }, "more requests");
    }
    this.#warnOfProxy();
    this.#callers.clear();
  }

  /** Warns once where a proxy hides its callers, who then share one caller's limits. */
  #warnOfProxy(): void {
    const callers = [...this.#callers.values()];
    const proxy = callers.every(({ isLocal }) => isLocal) && callers.find(({ logged }) => logged >= MANY_FROM_PROXY);
    if (!proxy || this.#knowsCallers) return;
    this.#knowsCallers = true;
    const { ip } = proxy;
    const advice = "if that is a proxy, it must send X-Forwarded-For, and trustedProxies must list it";
    this.logger.warn({ ip }, `callers come from local addresses only, each with one caller's limits: ${advice}`);
  }

  #countedFor(ip: string): Counted {
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    const own = callerIdOf(ip);
    const id = this.#callers.has(own) || this.#callers.size < MAX_CALLERS ? own : OTHERS;
    const known = this.#callers.get(id);
    if (known !== undefined) return known;
    const counted =
      id === OTHERS
        ? { logged: MAX_LOGGED, suppressed: new Map() }
        : { ip: own, isLocal: isLocalAddress(ip), logged: 0, suppressed: new Map() };
    this.#callers.set(id, counted);
    return counted;
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
