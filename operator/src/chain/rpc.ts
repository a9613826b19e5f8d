import { fetchText } from "@dataset-oracle/service/fetch";
import { ProblemError } from "@dataset-oracle/service/problem";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Hex, hexToBigInt, isHex } from "viem";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** At most 2^53 - 1, so that it is exact as a number, too. */
export const Quantity = Type.Unsafe<Hex>(
  Type.String({ pattern: "^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,12}|1[0-9a-fA-F]{13})$" }),
);
export const Bytes32 = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }));
/** Any number of whole bytes. */
export const Data = Type.Unsafe<Hex>(Type.String({ pattern: "^0x(?:[0-9a-fA-F]{2})*$" }));

/**
 * How an RPC call failed: no answer in time, no usable answer, or an error that the node answered. Only a refusal says
 * that nothing came of the call.
 */
export type RpcFailure = "timeout" | "failed" | "refused";

/** An RPC call that failed. What a caller sees of it names the network and never the endpoint. */
export class RpcError extends ProblemError {
  constructor(
    readonly failure: RpcFailure,
    chainId: number,
    readonly method: string,
    /** What the node, or the connection, said, without the endpoint's URL. For logs. */
    readonly reason: string,
    /** What a reverted call returned. */
    readonly data: Hex | null = null,
  ) {
    super(
      failure === "timeout"
        ? {
            title: `The RPC of network ${chainId} did not answer in time.`,
            status: 504,
            code: "rpc_timeout",
            detail: "Try again in a few seconds. If it lasts, the operator's RPC endpoint is in trouble.",
          }
        : {
            title: `The RPC of network ${chainId} failed.`,
            status: 502,
            code: "rpc_failed",
            detail: "Try again in a few seconds. If it lasts, the operator's RPC endpoint is in trouble.",
          },
    );
    this.name = "RpcError";
  }
}

/** One network's JSON-RPC endpoint. */
export interface Rpc {
  readonly chainId: number;
  /**
   * Makes one call. It is never repeated by itself.
   *
   * @throws RpcError
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
}

/**
 * Makes a call whose answer must have a shape.
 *
 * @throws RpcError
 */
export async function requestAs<T extends TSchema>(
  rpc: Rpc,
  shape: T,
  method: string,
  params: readonly unknown[],
): Promise<Static<T>> {
  const result = await rpc.request(method, params);
  if (Value.Check(shape, result)) return result;
  throw new RpcError("failed", rpc.chainId, method, "answered something of another shape");
}

/**
 * Makes a call that is answered with a number.
 *
 * @throws RpcError
 */
export async function requestQuantity(rpc: Rpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return hexToBigInt(await requestAs(rpc, Quantity, method, params));
}

/**
 * @param url May hold a token: it is in no error.
 * @param timeoutMs The deadline of each call.
 */
export function connectRpc(chainId: number, url: string, timeoutMs: number): Rpc {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const withoutUrl = urlRemover(url);
  return {
    chainId,
    async request(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json" };
      const answer = await fetchText({ url, method: "POST", headers, body }, limits);
      if (!answer.ok) {
        throw new RpcError(
          answer.failure === "timeout" ? "timeout" : "failed",
          chainId,
          method,
          withoutUrl(answer.detail),
        );
      }
      // Who answers with such a status may be a gateway, and the node behind it may have done what it was asked.
      const message = answer.status < 500 ? parseAnswer(answer.text) : null;
      if (message === null) {
        throw new RpcError("failed", chainId, method, `answered HTTP ${answer.status} without a JSON-RPC answer`);
      }
      if ("result" in message) return message.result;
      throw new RpcError("refused", chainId, method, withoutUrl(message.reason).slice(0, 300), message.data);
    },
  };
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

/** Nodes and proxies repeat the URL in what they say, and it may hold a token. */
function urlRemover(url: string): (text: string) => string {
  const { host, hostname, pathname, search } = new URL(url);
  // A part of three characters or less is no token, and can be a part of any word.
  const parts = [host, hostname, ...`${pathname}${search}`.split(/[/?&=]/)].filter(({ length }) => length > 3);
  const longestFirst = parts.toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, part) => rest.replaceAll(part, "..."), text);
}
