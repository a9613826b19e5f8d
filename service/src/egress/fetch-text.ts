import { isUtf8 } from "node:buffer";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Dispatcher, fetch, type Response } from "undici";
import {
  endedBy,
  type FetchFailure,
  type FetchFailureCode,
  type FetchLimits,
  type HttpAnswer,
  NOT_TEXT,
  redirected,
  tooLarge,
} from "../http-client/fetch-result.js";
import { withDeadline } from "../process/context.js";

/** What a request costs whoever causes it in addition to the body of its answer: about the time of as many bytes. */
const REQUEST_COST = 64 * 1024;

export interface FetchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bodies of other answers than HTTP 200 are not read, and count as empty. */
  readonly readsOnlyOk?: boolean;
  /**
   * Charges whoever causes the request: for the request, then for each part of the body as it arrives, whatever becomes
   * of it. When it returns false, the request ends.
   */
  readonly spend?: (bytes: number) => boolean;
}

type FetchTextFailure = FetchFailure<FetchFailureCode | "busy">;

/** A caller's allowance ended before the answer. */
const SPENT: FetchTextFailure = { code: "busy", detail: "is not read: the caller's allowance is used up" };

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
): Promise<Result<HttpAnswer, FetchTextFailure>> {
  return withDeadline(limits.timeoutMs, signal, async (ended) => {
    try {
      return await readAnswer(request, limits, dispatcher, ended);
    } catch (error) {
      return err(ended.aborted ? endedBy(ended, limits.timeoutMs) : { code: "unreachable", detail: causeOf(error) });
    }
  });
}

async function readAnswer(
  { url, method, headers: sent, body, readsOnlyOk = false, spend = () => true }: FetchRequest,
  { maxBytes }: FetchLimits,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Result<HttpAnswer, FetchTextFailure>> {
  if (!spend(REQUEST_COST)) return err(SPENT);
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
  const isRead = status === 200 || !readsOnlyOk;
  if (!isRead) await response.body?.cancel();
  const read = isRead ? await readBounded(response, maxBytes, spend) : ok(Buffer.alloc(0));
  if (!read.ok) return read;
  const bytes = read.value;
  if (!isUtf8(bytes)) return err(NOT_TEXT);
  return ok({
    status,
    contentType: headers.get("content-type") ?? "",
    retryAfter: headers.get("retry-after"),
    text: new TextDecoder().decode(bytes),
  });
}

/** Reads a body that is not too large. */
async function readBounded(
  response: Response,
  maxBytes: number,
  spend: (bytes: number) => boolean,
): Promise<Result<Buffer, FetchTextFailure>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (!spend(chunk.length)) return err(SPENT);
    if (bytes > maxBytes) return err(tooLarge(maxBytes));
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks));
}

/** Returns the reason why a fetch failed (ECONNREFUSED and the like), which undici hides in the error's cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return error instanceof Error ? error.message : String(error);
}
