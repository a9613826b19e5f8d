import { type FetchLimits, fetchText } from "@dataset-oracle/service/fetch";
import { judgeAnswer } from "./answer.js";
import type { JsonDocument } from "./document.js";
import type { Reading } from "./result.js";

/** A request to a source, ready to be made. */
export interface SourceRequest {
  readonly method: "GET";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Some exchanges refuse requests that do not say who asks. */
const USER_AGENT = "dataset-oracle-provider";

/** After decompression. */
const MAX_BYTES = 1024 * 1024;

/**
 * Makes requests to sources. Needs of the same request at the same time share one; nothing is kept once it is answered,
 * so that a value is never older than the need for it by more than the deadline.
 */
export class SourceReader {
  readonly #limits: FetchLimits;
  readonly #inFlight = new Map<string, Promise<Reading<JsonDocument>>>();

  /** @param timeoutMs For a whole answer. */
  constructor(timeoutMs: number) {
    this.#limits = { timeoutMs, maxBytes: MAX_BYTES };
  }

  /** The source's answer as JSON, or why there is none. */
  read(request: SourceRequest): Promise<Reading<JsonDocument>> {
    const id = JSON.stringify([request.method, request.url, request.headers]);
    const shared = this.#inFlight.get(id);
    if (shared !== undefined) return shared;
    const answer = this.#fetch(request).finally(() => this.#inFlight.delete(id));
    this.#inFlight.set(id, answer);
    return answer;
  }

  async #fetch(request: SourceRequest): Promise<Reading<JsonDocument>> {
    const headers = { accept: "application/json", "user-agent": USER_AGENT, ...request.headers };
    return judgeAnswer(await fetchText({ ...request, headers }, this.#limits));
  }
}
