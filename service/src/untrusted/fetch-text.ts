import { isUtf8 } from "node:buffer";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Dispatcher, fetch, type Response } from "undici";
import { withDeadline } from "../process/context.js";
import {
  endedBy,
  type FetchFailure,
  type FetchFailureCode,
  type FetchLimits,
  type HttpAnswer,
  NOT_TEXT,
  redirected,
  tooLarge,
  unreachable,
} from "../process/fetch-result.js";

/** What a request costs whoever causes it in addition to the body of its answer: about the time of as many bytes. */
const REQUEST_COST = 64 * 1024;

/** As how many bytes a part of an answer counts that is parsed by itself, however small: a head, or a chunk of a body. */
const PART_COST = 32;
/** So many parts are charged together. */
const PARTS = 64;

export interface FetchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bodies of other answers than HTTP 200 are not read, and count as empty. */
  readonly readsOnlyOk?: boolean;
  /**
   * Charges whoever causes the request: for the request, then for the parts of the answer and the bytes of its body as
   * they arrive, whatever becomes of them. When it returns false, the request ends.
   */
  readonly spend?: (bytes: number) => boolean;
}

type FetchTextFailure = FetchFailure<FetchFailureCode | "busy">;

/** A caller's allowance ended before the answer. */
const SPENT: FetchTextFailure = { code: "busy", detail: "is not read: the caller's allowance is used up" };

/**
 * Makes one HTTP request within limits, without following redirects. An answer with any status but a redirect is a
 * value, which the caller judges. Egress calls it, for URLs that anyone may have written; for services that their owner
 * has configured, there is trusted/post-text.ts.
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
      if (causes(error).some((cause) => cause instanceof Spent)) return err(SPENT);
      return err(ended.aborted ? endedBy(ended, limits.timeoutMs) : unreachable(causeOf(error)));
    }
  });
}

async function readAnswer(
  { url, method, headers: sent, body, readsOnlyOk = false, spend }: FetchRequest,
  { maxBytes }: FetchLimits,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Result<HttpAnswer, FetchTextFailure>> {
  if (spend?.(REQUEST_COST) === false) return err(SPENT);
  const response = await fetch(url, {
    method,
    redirect: "manual",
    signal,
    dispatcher: spend ? chargingParts(dispatcher, spend) : dispatcher,
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

/** The part of fetch's own handler that receives an answer. */
interface AnswerHandler extends Dispatcher.DispatchHandler {
  abort(reason: Error): void;
  onHeaders(status: number, ...rest: unknown[]): boolean;
  onData(chunk: Buffer): boolean;
}

/** An answer has ended early, because the caller's allowance is used up. */
class Spent extends Error {}

/** Charges for each head and each chunk of an answer before fetch joins them: a host may send them by the million. */
function chargingParts(dispatcher: Dispatcher, spend: (bytes: number) => boolean): Dispatcher {
  let parts = 0;
  const dispatch: Dispatcher["dispatch"] = (options, given) => {
    const handler = given as AnswerHandler;
    const isCharged = () => {
      parts += 1;
      return parts % PARTS !== 0 || spend(PARTS * PART_COST);
    };
    const charging: AnswerHandler = {
      ...handler,
      onHeaders(...args) {
        if (!isCharged()) this.abort(new Spent());
        return handler.onHeaders.apply(this, args);
      },
      onData(chunk) {
        if (!isCharged()) this.abort(new Spent());
        return handler.onData.call(this, chunk);
      },
    };
    return dispatcher.dispatch(options, charging);
  };
  return { dispatch } as Dispatcher;
}

/** Reads a body that is not too large. */
async function readBounded(
  response: Response,
  maxBytes: number,
  spend: FetchRequest["spend"],
): Promise<Result<Buffer, FetchTextFailure>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (spend?.(chunk.length) === false) return err(SPENT);
    if (bytes > maxBytes) return err(tooLarge(maxBytes));
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks));
}

const causes = (error: unknown) => [error, (error as { cause?: unknown } | undefined)?.cause];

/** Returns the reason why a fetch failed, which undici hides in the error's cause. */
function causeOf(error: unknown): NodeJS.ErrnoException {
  const [own, cause] = causes(error);
  return [cause, own].find((one) => one instanceof Error) ?? new Error(String(error));
}
