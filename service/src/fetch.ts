import { isUtf8 } from "node:buffer";
import { type Dispatcher, fetch, type Response } from "undici";

/** What an outgoing request may cost. */
export interface FetchLimits {
  readonly timeoutMs: number;
  /** After decompression. */
  readonly maxBytes: number;
}

export interface FetchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Why no answer came. */
export type FetchFailure = "timeout" | "aborted" | "unreachable" | "redirected" | "too_large" | "not_text";

export type FetchResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly contentType: string;
      /** The header of that name, or null. */
      readonly retryAfter: string | null;
      readonly text: string;
    }
  | { readonly ok: false; readonly failure: FetchFailure; readonly detail: string };

/**
 * Makes one HTTP request, within limits: a deadline for the whole answer, a bound on its size, no redirects.
 * An answer with any HTTP status is a result; the caller judges it.
 *
 * @param dispatcher Opens the connections. The global dispatcher is never used: Node's own fetch shares it, in whatever
 * version of undici that Node has.
 */
export async function fetchText(
  request: FetchRequest,
  limits: FetchLimits,
  dispatcher: Dispatcher,
  signal?: AbortSignal,
): Promise<FetchResult> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      redirect: "manual",
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      dispatcher,
      ...(request.headers && { headers: request.headers }),
      ...(request.body !== undefined && { body: request.body }),
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return {
        ok: false,
        failure: "redirected",
        detail: `answered ${response.status}, and redirects are not followed`,
      };
    }
    const bytes = await readBounded(response, limits.maxBytes);
    if (bytes === null) {
      return { ok: false, failure: "too_large", detail: `answered more than ${limits.maxBytes} bytes` };
    }
    if (!isUtf8(bytes)) return { ok: false, failure: "not_text", detail: "answered bytes that are not UTF-8" };
    return {
      ok: true,
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
      retryAfter: response.headers.get("retry-after"),
      text: new TextDecoder().decode(bytes),
    };
  } catch (error) {
    if (deadline.aborted) {
      return { ok: false, failure: "timeout", detail: `no answer within ${limits.timeoutMs} ms` };
    }
    if (signal?.aborted) return { ok: false, failure: "aborted", detail: "no longer needed" };
    return { ok: false, failure: "unreachable", detail: causeOf(error) };
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Node hides the reason of a failed fetch (ECONNREFUSED and the like) in the error's cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return error instanceof Error ? error.message : String(error);
}
