import { fetchText } from "@dataset-oracle/service/fetch";
import { ProblemError } from "@dataset-oracle/service/problem";
import { type Hex, isHex } from "viem";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** How an RPC call failed: no answer in time, no usable answer, or an error that the node answered. */
export type RpcFailure = "timeout" | "failed" | "refused";

/** An RPC call that failed. What a caller sees of it names the network and never the endpoint. */
export class RpcError extends ProblemError {
  constructor(
    readonly failure: RpcFailure,
    chainId: number,
    readonly method: string,
    /** What the node, or the connection, said. For logs. */
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
 * Makes a call that is answered with hex: a quantity, or what a contract returned.
 *
 * @throws RpcError
 */
export async function requestHex(rpc: Rpc, method: string, params: readonly unknown[]): Promise<Hex> {
  const result = await rpc.request(method, params);
  if (isHex(result)) return result;
  throw new RpcError("failed", rpc.chainId, method, "answered something that is not hex");
}

/**
 * @param url May hold a token: it is in no error.
 * @param timeoutMs The deadline of each call.
 */
export function connectRpc(chainId: number, url: string, timeoutMs: number): Rpc {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  return {
    chainId,
    async request(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json" };
      const answer = await fetchText({ url, method: "POST", headers, body }, limits);
      if (!answer.ok) {
        throw new RpcError(answer.failure === "timeout" ? "timeout" : "failed", chainId, method, answer.detail);
      }
      const message = parseAnswer(answer.text);
      if (message === null) {
        throw new RpcError("failed", chainId, method, `answered HTTP ${answer.status} without a JSON-RPC result`);
      }
      if ("result" in message) return message.result;
      throw new RpcError("refused", chainId, method, message.reason, message.data);
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
  if ("error" in json && json.error) return readError(json.error);
  return "result" in json ? { result: json.result } : null;
}

function readError(error: unknown): Message {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return { reason: `${String(code)}: ${String(message).slice(0, 300)}`, data: findHex(data) };
}

/** Most nodes put what a call reverted with into `data`; some into `data.data`, some behind a word. */
function findHex(data: unknown): Hex | null {
  if (typeof data === "object" && data !== null && "data" in data) return findHex(data.data);
  if (typeof data !== "string") return null;
  const hex = data.slice(Math.max(0, data.indexOf("0x")));
  return isHex(hex) ? hex : null;
}
