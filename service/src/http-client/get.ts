import type { Result } from "@dataset-oracle/protocol/result";
import { CONNECTIONS, type FetchFailure, type FetchLimits, fetchText, type HttpAnswer } from "./fetch.js";

/** Gets a text from a service that its owner has configured, without following redirects. */
export function getText(
  url: string,
  limits: FetchLimits,
  signal?: AbortSignal,
): Promise<Result<HttpAnswer, FetchFailure>> {
  return fetchText({ url, method: "GET" }, limits, CONNECTIONS, signal);
}
