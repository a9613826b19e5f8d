import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What ties together the log lines of one request, here and at the services that are asked because of it. */
export class Trace {
  #spanId: string | null = null;

  /**
   * @param requestId The caller's own `x-request-id`, if it has a plain one.
   * @param traceId W3C Trace Context: 32 lower-case hex digits.
   * @param flags The caller's: two of them.
   */
  constructor(
    readonly requestId: string,
    readonly traceId: string,
    readonly flags: string,
  ) {}

  /** 16 lower-case hex digits; made when they are needed, as most requests set nothing off. */
  get spanId(): string {
    this.#spanId ??= randomHex16();
    return this.#spanId;
  }
}

/** A request's trace: its caller's, or a new one where there is none, or none that can be read. */
export function traceOf(headers: IncomingHttpHeaders, requestId: string): Trace {
  const given = parentOf(headers.traceparent?.toString());
  return new Trace(requestId, given?.traceId ?? randomUUID().replaceAll("-", ""), given?.flags ?? "00");
}

function parentOf(traceparent: string | undefined): Pick<Trace, "traceId" | "flags"> | null {
  if (traceparent === undefined) return null;
  const [, version, traceId, , flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent) ?? [];
  const isUsable = version !== undefined && version !== "ff" && traceId !== undefined && !/^0+$/.test(traceId);
  return isUsable ? { traceId, flags: flags ?? "00" } : null;
}

/** 16 random hex digits: of a UUID without its version and variant, which are always the same. */
function randomHex16(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** The id of a request: the caller's if it is plain, so that it can stand in any log. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"]?.toString();
  return given !== undefined && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
}

/** The headers by which a service that is asked can tell for which request. */
export function traceHeaders(trace: Trace | null): Readonly<Record<string, string>> {
  return trace === null ? {} : { traceparent: `00-${trace.traceId}-${trace.spanId}-${trace.flags}` };
}

/** What every log line of what a request sets off has. The trace is passed on by hand: `AsyncLocalStorage` slows promises. */
export function traceFieldsOf(trace: Trace | null): Record<string, string> {
  return trace === null ? {} : { request_id: trace.requestId, trace_id: trace.traceId };
}
