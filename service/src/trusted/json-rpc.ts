import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import type { Dispatcher } from "undici";
import { type Hex, isHex } from "viem";
import type { FetchFailure, FetchLimits, HttpAnswer } from "../process/fetch-result.js";
import { postText, type TrustedRequest } from "./post-text.js";
import { matchesResultSchema } from "./rpc-results.js";

/** The id of every call: each has an HTTP request of its own. */
const ID = 1;

/** What is read of an error's message, and the longest data of one: a service chooses both. */
const MAX_MESSAGE = 10_000;
const MAX_DATA = 65_536;

/** A service that the owner configured, such as a node or a signer. */
export interface JsonRpcService extends Pick<TrustedRequest, "url" | "headers"> {
  readonly limits: FetchLimits;
  readonly dispatcher: Dispatcher;
  /** Ends its calls; a command has none. */
  readonly closing?: AbortSignal;
}

/** What a service answered to a call: a result, or an error, with the data of a reverted call as far as there is any. */
type JsonRpcAnswer =
  | { readonly result: unknown }
  | { readonly code: number; readonly message: string; readonly data: Hex | null };

/** What came of a call. */
export interface JsonRpcReply extends Pick<HttpAnswer, "retryAfter"> {
  /** Null when there is none that can be used: `unusable` says so, for people. */
  readonly answer: JsonRpcAnswer | null;
  readonly status: number;
  readonly unusable: string;
}

/**
 * Calls a method of a service.
 *
 * @param how Whether the request may be repeated, and whether it needs a new connection.
 */
export async function callJsonRpc(
  { limits, dispatcher, closing, ...to }: JsonRpcService,
  method: string,
  params: readonly unknown[],
  how: Pick<TrustedRequest, "isRepeatable" | "isFresh"> = {},
): Promise<Result<JsonRpcReply, FetchFailure>> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: ID, method, params });
  const posted = await postText({ ...to, ...how, body }, limits, dispatcher, closing);
  if (!posted.ok) return posted;
  const { status, retryAfter, text } = posted.value;
  const read = readUsableAnswer(method, params, text);
  // A 5xx or 429 may come from a gateway, and the service behind it may have done what it was asked.
  const isOfGateway = status >= 500 || status === 429;
  const answer = read !== null && "result" in read && isOfGateway ? null : read;
  return ok({ answer, status, retryAfter, unusable: `answered HTTP ${status} without a usable answer` });
}

/** Returns null for an answer that is not the service's. What exceeds a parser or a regular expression is none, either. */
function readUsableAnswer(method: string, params: readonly unknown[], text: string): JsonRpcAnswer | null {
  try {
    const answer = readAnswer(text);
    return answer === null || "code" in answer || matchesResultSchema(method, params, answer.result) ? answer : null;
  } catch {
    return null;
  }
}

/** Returns null when a text is no JSON-RPC answer, or one to another call: then it may not come from the service. */
function readAnswer(text: string): JsonRpcAnswer | null {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null) return null;
  const { id = null } = json as { id?: unknown };
  // A service that could not read the request does not know its id.
  const isAnswer = id === ID || id === String(ID);
  if ("error" in json && json.error !== null) return isAnswer || id === null ? readError(json.error) : null;
  return isAnswer && "result" in json ? { result: json.result } : null;
}

function readError(error: unknown): JsonRpcAnswer | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  if (typeof code !== "number") return null;
  return { code, message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "", data: findHex(data) };
}

/** Most nodes put a call's revert data into `data`, some into `data.data`, and some put a word before it. */
function findHex(data: unknown): Hex | null {
  const found = typeof data === "object" && data !== null && "data" in data ? data.data : data;
  if (typeof found !== "string" || found.length > MAX_DATA) return null;
  const hex = found.slice(Math.max(0, found.indexOf("0x")));
  return isHex(hex) ? hex : null;
}
