import { postText } from "@dataset-oracle/service/post";
import { type Hex, isHex } from "viem";
import { classifyRejection } from "./rejection.js";
import { otherShape, type Rpc, RpcError, type RpcFailure } from "./rpc.js";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * One JSON-RPC endpoint. A call is never repeated by itself.
 *
 * @param url May hold a token: it is in no error.
 * @param timeoutMs The deadline of each call.
 */
export function connectEndpoint(chainId: number, url: string, timeoutMs: number): Rpc {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const withoutUrl = urlRemover(url);
  return {
    chainId,
    async request(method, params, isUsable = () => true) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const answer = await postText(url, {}, body, limits);
      if (!answer.ok) {
        throw new RpcError(
          answer.failure === "timeout" ? "timeout" : "failed",
          chainId,
          method,
          withoutUrl(answer.detail),
        );
      }
      // Who answers with such a status may be a gateway, and the node behind it may have done what it was asked.
      const message = answer.status < 500 && answer.status !== 429 ? parseAnswer(answer.text) : null;
      if (message === null) {
        throw new RpcError("failed", chainId, method, `answered HTTP ${answer.status} without a JSON-RPC answer`);
      }
      if ("result" in message) {
        if (isUsable(message.result)) return message.result;
        throw otherShape(chainId, method);
      }
      throw new RpcError(
        failureOf(message.reason),
        chainId,
        method,
        withoutUrl(message.reason).slice(0, 300),
        message.data,
      );
    },
  };
}

/** Most of what a node says is its answer. That it is too busy, or gave up waiting, is none: another can be asked. */
function failureOf(reason: string): RpcFailure {
  const said = classifyRejection(reason);
  if (said === "timeout") return "timeout";
  return said === "rate_limited" ? "failed" : "refused";
}

type Message = { readonly result: unknown } | { readonly reason: string; readonly data: Hex | null };

function parseAnswer(text: string): Message | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== "object" || json === null) return null;
  if ("error" in json && json.error !== null) return readError(json.error);
  return "result" in json ? { result: json.result } : null;
}

/** @returns Null when it is not an error as JSON-RPC has them: then it may not be the node's. */
function readError(error: unknown): Message | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  if (typeof code !== "number") return null;
  const words = typeof message === "string" ? message : "";
  return { reason: `${code}: ${words}`, data: findHex(data) };
}

/** Most nodes put what a call reverted with into `data`; some into `data.data`, some behind a word. */
function findHex(data: unknown): Hex | null {
  const found = typeof data === "object" && data !== null && "data" in data ? data.data : data;
  if (typeof found !== "string") return null;
  const hex = found.slice(Math.max(0, found.indexOf("0x")));
  return isHex(hex) ? hex : null;
}

/** Nodes and proxies repeat the URL in what they say, as it is or decoded, and it may hold a token. */
function urlRemover(url: string): (text: string) => string {
  const { host, hostname, pathname, search } = new URL(url);
  const parts = [host, hostname, ...`${pathname}${search}`.split(/[/?&=]/)].flatMap((part) => [part, decoded(part)]);
  // A part of three characters or less is no token, and can be a part of any word.
  const longestFirst = parts.filter(({ length }) => length > 3).toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map((part) => part.replace(/\W/g, "\\$&")).join("|"), "gi");
  return (text) => text.replace(pattern, "...");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
