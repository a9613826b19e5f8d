import { reasonOf } from "./deadline.js";

/** Next.js stores what is fetched, also by POST. Some versions of Cloudflare Workers refuse this field whatever it says. */
const CACHE = cacheField();

function cacheField(): object {
  const field = { cache: "no-store" };
  try {
    new Request("https://a.example", field as RequestInit);
    return field;
  } catch {
    return {};
  }
}

/**
 * Sends a request, past every cache. A redirect is refused: a POST would arrive at its target as a GET.
 *
 * @throws What `fetch` throws, or an Error that names the redirect.
 */
export async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  // Cloudflare Workers do not know "error". Browsers answer a redirect with the status 0.
  const response = await fetch(url, { ...init, ...CACHE, redirect: "manual" });
  const { status, type } = response;
  const isRedirect = type === "opaqueredirect" || status === 0 || (status >= 300 && status < 400);
  if (!isRedirect && !response.redirected) return response;
  await response.body?.cancel();
  throw new Error("it redirects elsewhere");
}

/**
 * Reads the body of a response as text, part by part. Cancels the body when the consumer stops iterating.
 *
 * The signal that was passed to `fetch` is not enough for a body: in Node 20 and 22 it has no effect on one whose response
 * has been garbage-collected.
 *
 * @param maxCharacters A longer body is not read to its end. Where the runtime has no streams, as React Native, it is
 * read whole, unless it says before that it is too long.
 * @param signal Ends the reading. Its reason is thrown.
 * @throws TooLong
 */
export async function* bodyText(
  response: Pick<Response, "body" | "headers" | "text">,
  maxCharacters: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let characters = 0;
  const parts = response.body === undefined ? whole(response, maxCharacters) : streamed(response.body, signal);
  for await (const part of parts) {
    characters += part.length;
    if (characters > maxCharacters) throw new TooLong(maxCharacters);
    yield part;
  }
}

/** A body has more characters than any answer. */
export class TooLong extends Error {
  constructor(maxCharacters: number) {
    super(`more than ${maxCharacters} characters`);
  }
}

async function* whole(response: Pick<Response, "headers" | "text">, maxCharacters: number) {
  if (Number(response.headers.get("content-length")) > maxCharacters) throw new TooLong(maxCharacters);
  yield await response.text();
}

async function* streamed(body: ReadableStream<Uint8Array> | null, signal: AbortSignal) {
  if (body === null) return;
  const reader = body.getReader();
  // Cancelling ends a read that is under way. It throws if the body has failed, which the read reports.
  const cancel = () => reader.cancel().catch(() => {});
  const throwIfAborted = () => {
    if (signal.aborted) throw reasonOf(signal);
  };
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  try {
    throwIfAborted();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield decoder.decode(part.value, { stream: true });
    }
    throwIfAborted();
    // A body that ends within a character ends with a replacement character.
    const rest = decoder.decode();
    if (rest !== "") yield rest;
  } finally {
    signal.removeEventListener("abort", cancel);
    await cancel();
  }
}

/** Returns why a request failed. Node only says "fetch failed", and names the reason in the cause: its message, or the code of several attempts. */
export function failureOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: reason, code } = (cause ?? {}) as { message?: string; code?: string };
  return reason || code || message;
}
