import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "../process/context.js";

type RandomSource = Context["random"];

/**
 * Connects the log lines of one request, here and in the services that are called for it. It is passed as an argument,
 * because `AsyncLocalStorage`, which the OpenTelemetry library needs, slows every promise.
 */
export class Trace {
  #spanId: string | null = null;

  /**
   * @param requestId The caller's `x-request-id`, or a new one.
   * @param traceId W3C Trace Context: 32 lower-case hex digits.
   * @param flags Two hex digits, from the caller.
   * @param isLogged False for a request whose caller has had its share of the log: nothing is logged about it.
   */
  constructor(
    readonly requestId: string,
    readonly traceId: string,
    readonly flags: string,
    readonly isLogged: boolean,
    private readonly random: RandomSource,
  ) {}

  /** 16 lower-case hex digits, generated on first use, because most requests cause no calls. */
  get spanId(): string {
    this.#spanId ??= randomHex(16, this.random);
    return this.#spanId;
  }
}

/** Continues the caller's trace, or starts a new one when its `traceparent` is missing or malformed. */
export function traceOf(
  headers: IncomingHttpHeaders,
  requestId: string,
  isLogged: boolean,
  random: RandomSource,
): Trace {
  const given = parentOf(headers.traceparent?.toString());
  return new Trace(requestId, given?.traceId ?? randomHex(32, random), given?.flags ?? "00", isLogged, random);
}

function parentOf(traceparent: string | undefined): Pick<Trace, "traceId" | "flags"> | null {
  if (traceparent === undefined) return null;
  const [, version, traceId, , flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  const isUsable = version !== undefined && version !== "ff" && traceId !== undefined && !/^0+$/.test(traceId);
  return isUsable ? { traceId, flags: flags ?? "00" } : null;
}

/** Identifiers for logs are no secrets, so that whatever a process draws its waits from is good enough. */
function randomHex(digits: number, random: RandomSource): string {
  const eight = () => Math.floor(random() * 2 ** 32).toString(16);
  return Array.from({ length: digits / 8 }, () => eight().padStart(8, "0")).join("");
}

/** Returns the caller's request id if it is safe to log, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders, random: RandomSource): string {
  const given = headers["x-request-id"]?.toString();
  return given !== undefined && /^[\w.-]{8,64}$/.test(given) ? given : randomHex(32, random);
}

/** Returns the headers that pass a trace on to another service. */
export function traceHeaders(trace: Trace | null): Readonly<Record<string, string>> {
  return trace === null ? {} : { traceparent: `00-${trace.traceId}-${trace.spanId}-${trace.flags}` };
}

/** Tells whether lines about a request are logged. What no request causes always is. */
export const isLogged = (trace: Trace | null): boolean => trace?.isLogged !== false;

/** Returns the log fields of a trace. */
export function traceFieldsOf(trace: Trace | null): Record<string, string> {
  return trace === null ? {} : { request_id: trace.requestId, trace_id: trace.traceId };
}
