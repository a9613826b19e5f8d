import { http } from "viem";
import { readJsonRpcAnswer } from "./json-rpc.js";
import { matchesResultSchema } from "./rpc-results.js";
import { postText } from "./trusted-request.js";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Returns viem's HTTP transport with a deadline for whole answers: the timeout of viem's own ends with the headers. It
 * follows no redirects, repeats no calls, and takes no result of another shape than its method's.
 *
 * @param timeoutMs The deadline of each call.
 */
export function rpcTransport(url: string, timeoutMs: number) {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const fetchFn = async (input: string | URL | Request, { headers, body }: RequestInit = {}): Promise<Response> => {
    const answer = await postText(String(input), Object.fromEntries(new Headers(headers)), String(body), limits);
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
