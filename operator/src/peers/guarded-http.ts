import { isLocalNodeUrl } from "@dataset-oracle/protocol/base-url";
import type { Result } from "@dataset-oracle/protocol/result";
import { Egress, type EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, FetchLimits, HttpAnswer } from "@dataset-oracle/service/http-client/fetch-result";
import { getText, postText } from "@dataset-oracle/service/http-client/trusted-request";

/** The most requests to announced URLs that are in flight or waiting. */
const MAX_IN_FLIGHT = 256;

/**
 * Asks nodes and providers. A URL that the operator's owner has configured is asked wherever it is. An announced one
 * was chosen by a stranger, so it is asked only over https, at a public host.
 */
export class GuardedHttp {
  /**
   * @param configured The base URLs in the configuration.
   * @param allowsLocal True for a development network, whose nodes may be announced on this machine.
   * @param egress Asks announced URLs. It is closed with everything else.
   */
  constructor(
    private readonly configured: ReadonlySet<string>,
    private readonly allowsLocal: boolean,
    private readonly closing: AbortSignal,
    private readonly egress = new Egress({ maxInFlight: MAX_IN_FLIGHT }),
  ) {
    closing.addEventListener("abort", () => void egress.close());
  }

  /**
   * Posts JSON, without following redirects.
   *
   * @param onChunk Called with each chunk of an answer with status 200 as it arrives; the answer's text is then empty.
   */
  post(
    base: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    limits: FetchLimits,
    signal = this.closing,
    onChunk?: (chunk: Buffer) => void,
  ): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.#isTrusted(base)) return postText(url, headers, body, limits, signal, onChunk);
    const all = { "content-type": "application/json", ...headers };
    return this.egress.fetchText({ url, method: "POST", headers: all, body }, limits, signal, onChunk);
  }

  /** Gets a text, without following redirects. */
  get(base: string, path: string, limits: FetchLimits): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.#isTrusted(base)) return getText(url, limits, this.closing);
    return this.egress.fetchText({ url, method: "GET" }, limits, this.closing);
  }

  /** Reports whether a base URL is asked without guards: the owner chose it, or allows nodes on this machine. */
  #isTrusted(base: string): boolean {
    return this.configured.has(base) || (this.allowsLocal && isLocalNodeUrl(base));
  }
}
