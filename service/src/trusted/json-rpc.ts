import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { type Hex, isHex } from "viem";

/** The id of every call: each has an HTTP request of its own. */
const ID = 1;

/** What is read of an error's message, and the longest data of one: a service chooses both. */
const MAX_MESSAGE = 10_000;
const MAX_DATA = 65_536;

/** Writes a JSON-RPC call as the body of an HTTP request. */
export function jsonRpcCall(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: ID, method, params });
}

/** What a service answered to a call: a result, or an error, with the data of a reverted call as far as there is any. */
export type JsonRpcAnswer =
  | { readonly result: unknown }
  | { readonly code: number; readonly message: string; readonly data: Hex | null };

/**
 * Reads the answer to a call.
 *
 * @returns Null when the text is no JSON-RPC answer, or one to another call: then it may not come from the service.
 */
export function readJsonRpcAnswer(text: string): JsonRpcAnswer | null {
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
