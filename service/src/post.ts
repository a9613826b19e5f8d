import { isUtf8 } from "node:buffer";
import { Agent, type Dispatcher } from "undici";
import type { FetchLimits, FetchResult } from "./fetch.js";

/**
 * The global dispatcher is shared with Node's own fetch, whose undici may be of another version: Node 22's refuses our
 * handlers. Idle connections do not keep the process alive.
 */
const CONNECTIONS = new Agent();

/**
 * Posts JSON to a service that its owner has chosen, as `fetchText` makes any request, at a fraction of the CPU time: no
 * streams, no decompression.
 *
 * @param headers Beside the content type.
 */
export function postText(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  limits: FetchLimits,
  signal?: AbortSignal,
): Promise<FetchResult> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve) => {
    const exchange = new Exchange(limits, resolve, signal);
    const all = { "content-type": "application/json", ...headers };
    CONNECTIONS.dispatch({ origin, path: pathname + search, method: "POST", headers: all, body }, exchange);
  });
}

/** One request and its answer, until the first of: the answer's end, a failure, the deadline, the caller's signal. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #bytes = 0;
  #status = 0;
  #contentType = "";
  #retryAfter: string | null = null;
  #isOver = false;

  constructor(
    private readonly limits: FetchLimits,
    private readonly resolve: (result: FetchResult) => void,
    private readonly signal?: AbortSignal,
  ) {
    this.#timer = setTimeout(() => this.#fail("timeout", `no answer within ${limits.timeoutMs} ms`), limits.timeoutMs);
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.#fail("aborted", "no longer needed");

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error("It is over."));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#contentType = headers["content-type"]?.toString() ?? "";
    this.#retryAfter = headers["retry-after"]?.toString() ?? null;
    if (status < 300 || status >= 400) return;
    this.#fail("redirected", `answered ${status}, and redirects are not followed`);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    const { maxBytes } = this.limits;
    if (this.#bytes > maxBytes) this.#fail("too_large", `answered more than ${maxBytes} bytes`);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const bytes = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    if (!isUtf8(bytes)) {
      this.#fail("not_text", "answered bytes that are not UTF-8");
      return;
    }
    const [status, contentType, retryAfter] = [this.#status, this.#contentType, this.#retryAfter];
    this.#settle({ ok: true, status, contentType, retryAfter, text: bytes.toString() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: NodeJS.ErrnoException): void {
    this.#fail("unreachable", error.code ?? error.message);
  }

  #fail(failure: Extract<FetchResult, { ok: false }>["failure"], detail: string): void {
    if (this.#isOver) return;
    this.#settle({ ok: false, failure, detail });
    this.#controller?.abort(new Error(detail));
  }

  #settle(result: FetchResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.signal?.removeEventListener("abort", this.#abort);
    this.resolve(result);
  }
}
