import { isLocalNodeUrl } from "@dataset-oracle/protocol/base-url";
import type { Result } from "@dataset-oracle/protocol/result";
import { Egress, type EgressFailure } from "@dataset-oracle/service/egress/egress";
import type { FetchFailure, FetchLimits, HttpAnswer } from "@dataset-oracle/service/http-client/fetch-result";
import { postText } from "@dataset-oracle/service/http-client/trusted-request";

/** The most requests to announced URLs that are in flight or waiting. */
const MAX_IN_FLIGHT = 256;

/**
 * Asks providers. A URL that the operator's owner has configured is asked wherever it is. An announced one was chosen by
 * a stranger, so it is asked only over https, at a public host.
 */
export class GuardedHttp {
  /**
   * @param configured The base URLs in the configuration.
   * @param allowsLocal True for a development network, whose providers may be announced on this machine.
   * @param egress Asks announced URLs. It is closed with everything else.
   */
  constructor(
    private readonly configured: ReadonlySet<string>,
    private readonly allowsLocal: boolean,
    closing: AbortSignal,
    private readonly egress = new Egress({ maxInFlight: MAX_IN_FLIGHT }),
  ) {
    closing.addEventListener("abort", () => void egress.close());
  }

  /** Posts JSON, without following redirects. */
  post(
    base: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    limits: FetchLimits,
    signal: AbortSignal,
  ): Promise<Result<HttpAnswer, FetchFailure<EgressFailure>>> {
    const url = `${base}${path}`;
    if (this.#isTrusted(base)) return postText(url, headers, body, limits, signal);
    const all = { "content-type": "application/json", ...headers };
    return this.egress.fetchText({ url, method: "POST", headers: all, body }, limits, signal);
  }

  /** Reports whether a base URL is asked without guards: the owner chose it, or allows providers on this machine. */
  #isTrusted(base: string): boolean {
    return this.configured.has(base) || (this.allowsLocal && isLocalNodeUrl(base));
  }
}
