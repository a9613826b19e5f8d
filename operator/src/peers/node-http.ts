import type { Result } from "@dataset-oracle/protocol/result";
import { NDJSON_CONTENT_TYPE } from "@dataset-oracle/protocol/wire";
import { Egress, type EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, FetchLimits, HttpAnswer } from "@dataset-oracle/service/http-client/fetch";
import { getText } from "@dataset-oracle/service/http-client/get";
import { postText } from "@dataset-oracle/service/http-client/post";

/** The most requests to announced URLs that are in flight or waiting. */
const MAX_IN_FLIGHT = 256;
/** An origin of this machine. */
const LOCAL = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/**
 * Asks nodes and providers. A URL that the operator's owner has configured is asked wherever it is. An announced one was
 * chosen by a stranger, so it is asked only over https, at a public host.
 */
export class NodeHttp {
  readonly #egress = new Egress({ maxInFlight: MAX_IN_FLIGHT });

  /**
   * @param configured The base URLs in the configuration.
   * @param allowsLocal True for a development network, whose nodes may be announced on this machine.
   */
  constructor(
    private readonly configured: ReadonlySet<string>,
    private readonly allowsLocal: boolean,
    private readonly closing: AbortSignal,
  ) {
    closing.addEventListener("abort", () => void this.#egress.close());
  }

  /** Posts JSON, without following redirects. */
  post(
    base: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    limits: FetchLimits,
    signal = this.closing,
  ): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.isTrusted(base)) return postText(url, headers, body, limits, signal);
    const all = { "content-type": "application/json", ...headers };
    return this.#egress.fetchText({ url, method: "POST", headers: all, body }, limits, signal);
  }

  /**
   * Posts JSON to a trusted URL, and takes an answer with status 200 as it arrives.
   *
   * @returns The answer, whose text is empty then.
   */
  postStream(
    url: string,
    body: string,
    limits: FetchLimits,
    signal: AbortSignal,
    takePart: (part: Buffer) => void,
  ): Promise<Result<HttpAnswer, FetchFailure>> {
    return postText(url, { accept: NDJSON_CONTENT_TYPE }, body, limits, signal, takePart);
  }

  /** Gets a text, without following redirects. */
  get(base: string, path: string, limits: FetchLimits): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.isTrusted(base)) return getText(url, limits, this.closing);
    return this.#egress.fetchText({ url, method: "GET" }, limits, this.closing);
  }

  /** Reports whether a base URL is the owner's choice, so that it is asked without the guards of public hosts. */
  isTrusted(base: string): boolean {
    return this.configured.has(base) || (this.allowsLocal && LOCAL.test(base));
  }
}
