import { http } from "viem";
import type { Context } from "../process/context.js";
import { TRUSTED_CONNECTIONS } from "./connections.js";
import { readJsonRpcAnswer } from "./json-rpc.js";
import { postText } from "./post-text.js";
import { matchesResultSchema } from "./rpc-results.js";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Returns viem's HTTP transport with a deadline for whole answers: the timeout of viem's own ends with the headers. It
 * follows no redirects, repeats no calls, and takes no result of another shape than its method's.
 *
 * @param timeoutMs The deadline of each call.
 * @param context Of a service; a command has none.
 */
export function rpcTransport(url: string, timeoutMs: number, context?: Pick<Context, "dispatcher" | "closing">) {
  const { dispatcher = TRUSTED_CONNECTIONS, closing } = context ?? {};
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const fetchFn = async (input: string | URL | Request, { headers, body }: RequestInit = {}): Promise<Response> => {
    const request = { url: String(input), headers: Object.fromEntries(new Headers(headers)), body: String(body) };
    const answer = await postText(request, limits, dispatcher, closing);
    if (!answer.ok) throw new Error(answer.error.detail);
    const { status, contentType, text } = answer.value;
    const { method, params = [] } = JSON.parse(String(body)) as { method: string; params?: readonly unknown[] };
    const read = readJsonRpcAnswer(text);
    if (read !== null && "result" in read && !matchesResultSchema(method, params, read.result)) {
      throw new Error(`answered ${method} in an unexpected shape`);
    }
    return new Response(text, {
      status,
      statusText: `answered HTTP ${status}`,
      headers: { "content-type": contentType },
    });
  };
  return http(url, { fetchFn, timeout: 0, retryCount: 0 });
}
