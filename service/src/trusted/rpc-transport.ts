import { custom, HttpRequestError, RpcRequestError } from "viem";
import { addressOf, type RpcEndpoint } from "../config/rpc-endpoint.js";
import type { Context } from "../process/context.js";
import { TRUSTED_CONNECTIONS } from "./connections.js";
import { callJsonRpc, type JsonRpcService } from "./json-rpc.js";

export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Returns a transport of viem with a deadline for whole answers: the timeout of viem's own ends with the headers. It
 * follows no redirects, repeats no calls, and takes no result of another shape than its method's.
 *
 * @param timeoutMs The deadline of each call.
 * @param context Of a service; a command has none.
 */
export function rpcTransport(
  endpoint: RpcEndpoint,
  timeoutMs: number,
  context?: Pick<Context, "dispatcher" | "closing">,
) {
  const { url, headers } = addressOf(endpoint);
  const service: JsonRpcService = {
    url,
    headers,
    limits: { timeoutMs, maxBytes: MAX_ANSWER_BYTES },
    dispatcher: TRUSTED_CONNECTIONS,
    ...context,
  };
  const request = async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
    const called = await callJsonRpc(service, method, params);
    if (!called.ok) throw new HttpRequestError({ url, details: called.error.detail });
    const { answer, unusable } = called.value;
    if (answer === null) throw new HttpRequestError({ url, details: unusable });
    if ("code" in answer) throw new RpcRequestError({ body: { method }, error: answer, url });
    return answer.result;
  };
  return custom({ request }, { retryCount: 0 });
}
