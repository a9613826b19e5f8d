import { isUtf8 } from "node:buffer";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Dispatcher, fetch, type Response } from "undici";
import {
  ABORTED,
  type FetchFailure,
  type FetchLimits,
  type HttpAnswer,
  NOT_TEXT,
  redirected,
  timedOut,
  tooLarge,
} from "../http-client/fetch-result.js";

export interface FetchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Makes one HTTP request within limits, without following redirects. An answer with any status but a redirect is a
 * value, which the caller judges. Egress calls it, for URLs that anyone may have written; for services that their owner
 * has configured, there is trusted-request.ts.
 *
 * @param dispatcher Opens the connections.
 */
export async function fetchText(
  request: FetchRequest,
  limits: FetchLimits,
  dispatcher: Dispatcher,
  signal?: AbortSignal,
): Promise<Result<HttpAnswer, FetchFailure>> {
  if (signal?.aborted) return err(ABORTED);
  // Not AbortSignal.timeout: its timer cannot be cleared, and would abort every request again long after its answer.
  const ended = new AbortController();
  const end = (failure: FetchFailure) => ended.abort(failure);
  const timer = setTimeout(() => end(timedOut(limits.timeoutMs)), limits.timeoutMs);
  const abort = () => end(ABORTED);
  signal?.addEventListener("abort", abort);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      redirect: "manual",
      signal: ended.signal,
      dispatcher,
      ...(request.headers && { headers: request.headers }),
      ...(request.body !== undefined && { body: request.body }),
    });
    const { status, headers } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      return err(redirected(status));
    }
    const bytes = await readBounded(response, limits.maxBytes);
    if (bytes === null) return err(tooLarge(limits.maxBytes));
    if (!isUtf8(bytes)) return err(NOT_TEXT);
    return ok({
      status,
      contentType: headers.get("content-type") ?? "",
      retryAfter: headers.get("retry-after"),
      text: new TextDecoder().decode(bytes),
    });
  } catch (error) {
    const { aborted, reason } = ended.signal;
    return err(aborted ? (reason as FetchFailure) : { code: "unreachable", detail: causeOf(error) });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Reads a body; null if it is too large. */
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

/** Returns the reason why a fetch failed (ECONNREFUSED and the like), which undici hides in the error's cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return error instanceof Error ? error.message : String(error);
}
