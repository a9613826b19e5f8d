import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

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
  ) {}

  /** 16 lower-case hex digits, generated on first use, because most requests cause no calls. */
  get spanId(): string {
    this.#spanId ??= randomHex16();
    return this.#spanId;
  }
}

/** Continues the caller's trace, or starts a new one when its `traceparent` is missing or malformed. */
export function traceOf(headers: IncomingHttpHeaders, requestId: string, isLogged: boolean): Trace {
  const given = parentOf(headers.traceparent?.toString());
  return new Trace(requestId, given?.traceId ?? randomUUID().replaceAll("-", ""), given?.flags ?? "00", isLogged);
}

function parentOf(traceparent: string | undefined): Pick<Trace, "traceId" | "flags"> | null {
  if (traceparent === undefined) return null;
  const [, version, traceId, , flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  const isUsable = version !== undefined && version !== "ff" && traceId !== undefined && !/^0+$/.test(traceId);
  return isUsable ? { traceId, flags: flags ?? "00" } : null;
}

/** Returns 16 random hex digits, from the parts of a UUID that hold no version or variant. */
function randomHex16(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** Returns the caller's request id if it is safe to log, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"]?.toString();
  return given !== undefined && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
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
