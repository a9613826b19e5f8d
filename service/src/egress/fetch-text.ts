import { isUtf8 } from "node:buffer";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Dispatcher, fetch, type Response } from "undici";
import {
  endedBy,
  type FetchFailure,
  type FetchLimits,
  type HttpAnswer,
  NOT_TEXT,
  redirected,
  tooLarge,
} from "../http-client/fetch-result.js";
import { withDeadline } from "../process/context.js";

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
 * @param signal Ends the request with the failure `aborted`.
 */
export async function fetchText(
  request: FetchRequest,
  limits: FetchLimits,
  dispatcher: Dispatcher,
  signal?: AbortSignal,
): Promise<Result<HttpAnswer, FetchFailure>> {
  return withDeadline(limits.timeoutMs, signal, async (ended) => {
    try {
      return await readAnswer(request, limits, dispatcher, ended);
    } catch (error) {
      return err(ended.aborted ? endedBy(ended, limits.timeoutMs) : { code: "unreachable", detail: causeOf(error) });
    }
  });
}

async function readAnswer(
  { url, method, headers: sent, body }: FetchRequest,
  { maxBytes }: FetchLimits,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Result<HttpAnswer, FetchFailure>> {
  const response = await fetch(url, {
    ...{ method, redirect: "manual", signal, dispatcher },
    ...(sent && { headers: sent }),
    ...(body !== undefined && { body }),
  });
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return err(redirected(status));
  }
  const bytes = await readBounded(response, maxBytes);
  if (bytes === null) return err(tooLarge(maxBytes));
  if (!isUtf8(bytes)) return err(NOT_TEXT);
  return ok({
    status,
    contentType: headers.get("content-type") ?? "",
    retryAfter: headers.get("retry-after"),
    text: new TextDecoder().decode(bytes),
  });
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
