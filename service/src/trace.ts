import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What ties together the log lines of one request, here and at the services that are asked because of it. */
export interface Trace {
  /** The caller's own `x-request-id`, if it has a plain one. */
  readonly requestId: string;
  /** W3C Trace Context: 32 and 16 lower-case hex digits, and the caller's flags. */
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
}

const current = new AsyncLocalStorage<Trace>();

/** Runs what a request sets off. Work that others share belongs to the request that began it. */
export function withTrace(trace: Trace, run: () => void): void {
  current.run(trace, run);
}

/** A request's trace: its caller's, or a new one where there is none, or none that can be read. */
export function traceOf(headers: IncomingHttpHeaders, requestId: string): Trace {
  const [, version, traceId, , flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(headers.traceparent?.toString() ?? "") ??
    [];
  const isUsable = version !== undefined && version !== "ff" && traceId !== undefined && !/^0+$/.test(traceId);
  return {
    requestId,
    traceId: isUsable ? traceId : randomBytes(16).toString("hex"),
    spanId: randomBytes(8).toString("hex"),
    flags: isUsable ? (flags ?? "00") : "00",
  };
}

/** The id of a request: the caller's if it is plain, so that it can stand in any log. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"]?.toString() ?? "";
  return /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
}

/** The headers by which a service that is asked now can tell for which request: none outside of one. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const trace = current.getStore();
  return trace === undefined ? {} : { traceparent: `00-${trace.traceId}-${trace.spanId}-${trace.flags}` };
}

/** What every log line of a request has: pino's `mixin`. */
export function traceFields(): Record<string, string> {
  const trace = current.getStore();
  return trace === undefined ? {} : { request_id: trace.requestId, trace_id: trace.traceId };
}
