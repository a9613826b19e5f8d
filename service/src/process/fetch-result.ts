import { isTimeout } from "./context.js";

/** The bounds of an outgoing request. */
export interface FetchLimits {
  /** The deadline of the whole answer. */
  readonly timeoutMs: number;
  /** The size of the answer's body after decompression. */
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** The header's value; empty when there is none. */
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly text: string;
}

export type FetchFailureCode = "timeout" | "aborted" | "unreachable" | "redirected" | "too_large" | "not_text";

/** Why there is no answer. */
export interface FetchFailure<Code extends string = FetchFailureCode> {
  readonly code: Code;
  /**
   * The explanation, for people. It continues a sentence about the host ("answered 302, ..."), except for `timeout`,
   * `aborted` and `unreachable`, where it stands alone ("no answer within 500 ms", "ECONNREFUSED").
   */
  readonly detail: string;
  /** True if it is `unreachable` because its certificate is refused. */
  readonly isCertificateRefused?: boolean;
}

const timedOut = (timeoutMs: number) => ({ code: "timeout", detail: `no answer within ${timeoutMs} ms` }) as const;
const ABORTED = { code: "aborted", detail: "no longer needed" } as const;
/** Why there is no answer, where the signal of a request was aborted: its deadline is over, or nobody needs it. */
export const endedBy = (signal: AbortSignal, timeoutMs: number) => (isTimeout(signal) ? timedOut(timeoutMs) : ABORTED);
/** Node's and OpenSSL's codes of a certificate that is not accepted. */
const CERTIFICATE = /^(?:CERT_|ERR_TLS_CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
/**
 * Why no answer came over the network. A name server's error has the code that the host's own would have, such as
 * ECONNREFUSED, or EDESTRUCTION where there is no name server.
 */
export function unreachable({ code, message, syscall }: NodeJS.ErrnoException): FetchFailure<"unreachable"> {
  if (syscall === "getaddrinfo" || syscall?.startsWith("query")) {
    const isUnknown = code === "ENOTFOUND" || code === "ENODATA";
    return { code: "unreachable", detail: isUnknown ? "no such host name" : "its name cannot be resolved" };
  }
  if (code !== undefined && CERTIFICATE.test(code))
    return { code: "unreachable", detail: `its certificate is refused: ${code}`, isCertificateRefused: true };
  return { code: "unreachable", detail: code ?? message };
}
export const redirected = (status: number) =>
  ({ code: "redirected", detail: `answered ${status}, and redirects are not followed` }) as const;
export const tooLarge = (maxBytes: number) =>
  ({ code: "too_large", detail: `answered with more than ${maxBytes} bytes` }) as const;
export const NOT_TEXT = { code: "not_text", detail: "answered with bytes that are not UTF-8" } as const;

/**
 * Reads the value of a Retry-After header, which is in seconds or a date.
 *
 * @param nowMs In milliseconds since 1970.
 * @returns Milliseconds, not below 0; null when it is missing or malformed.
 */
export function retryAfterMs(retryAfter: string | null, nowMs: number): number | null {
  const text = retryAfter?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
