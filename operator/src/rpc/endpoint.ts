import { TransientError } from "@dataset-oracle/service/config/config-error";
import { retryAfterMs } from "@dataset-oracle/service/http-client/fetch-result";
import { jsonRpcCall, readJsonRpcAnswer } from "@dataset-oracle/service/http-client/json-rpc";
import { matchesResultSchema } from "@dataset-oracle/service/http-client/rpc-results";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/http-client/trusted-connections";
import { postText } from "@dataset-oracle/service/http-client/trusted-request";
import { urlRemover } from "@dataset-oracle/service/http-client/url-remover";
import { type Context, SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { type Hex, hexToNumber } from "viem";
import { classifyNodeError, meaningOf, type NodeErrorKind } from "./node-errors.js";
import { describeError, RpcError, type RpcErrorKind } from "./rpc-error.js";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** The only call that changes something. */
export const SUBMIT = "eth_sendRawTransaction";

/** Makes JSON-RPC calls to one network. */
export interface JsonRpc {
  /** @throws RpcError */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Makes a call to every endpoint that is ready, if there are several. @throws RpcError when none answers. */
  requestEach?(method: string, params: readonly unknown[]): Promise<readonly unknown[]>;
  /** True while at least one endpoint passed its last check and has not failed since. */
  readonly isReady?: boolean;
  readonly endpoints?: EndpointState[];
}

/** What one endpoint can do at present. */
export interface EndpointState {
  /** Its place in the configuration, which is its name: `rpcUrls/0`. */
  readonly endpoint: string;
  readonly ready: boolean;
  /** The newest block that it has shown; 0 while it is not ready. */
  readonly block: number;
  /** The kinds of requests that it refused, such as `eth_simulateV1` or `eth_call pending`. */
  readonly without: string[];
}

/** Names the kind of a request, such that an endpoint that refuses one is likely to refuse the others. */
export function kindOfRequest(method: string, params: readonly unknown[]): string {
  if (method === "eth_getLogs") {
    const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string };
    // Up to the next power of two, as ranges are halved when they are too large.
    const bits = Math.ceil(Math.log2(Number(toBlock) - Number(fromBlock) + 1));
    if (bits >= 0) return `eth_getLogs of ${2 ** bits} blocks`;
    return `eth_getLogs of ${fromBlock === "earliest" ? "all" : "the newest"} blocks`;
  }
  const pending = params.includes("pending") ? " pending" : "";
  return `${method}${pending}${params.length > 2 ? " with overrides" : ""}`;
}

/**
 * Connects one JSON-RPC endpoint. It repeats a call only if the endpoint closed an idle connection, and never a submission.
 *
 * @param url May contain a token, so it never appears in an error.
 * @param timeoutMs The deadline of each call.
 */
export function connectEndpoint(
  chainId: number,
  url: string,
  timeoutMs: number,
  { clock, closing, dispatcher }: Pick<Context, "clock" | "closing" | "dispatcher">,
): JsonRpc {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const withoutUrl = urlRemover(url);
  return {
    async request(method, params) {
      const isRead = method !== SUBMIT;
      const call = { url, body: jsonRpcCall(method, params), isRepeatable: isRead };
      const answer = await postText(call, limits, dispatcher, closing);
      const { status, text, retryAfter } = answer.ok ? answer.value : { status: 0, text: "", retryAfter: null };
      const fail = (message: string, code: number | null = null, data: Hex | null = null): RpcError => {
        const hasRevertData = data !== null && data !== "0x";
        const isOfPending = params.includes("pending");
        const meaning = meaningOf({ method, isOfPending, status, code, message, hasRevertData });
        // Only a node itself knows that it did not take a transaction.
        const isOpen = !isRead && (code === null || meaning === "other");
        const kind = classifyNodeError(message) === "timeout" ? "timeout" : isOpen ? "failed" : kindOf(meaning);
        const reason = withoutUrl(code === null ? message : `${code}: ${message}`).slice(0, 300);
        return new RpcError(kind, chainId, method, reason, data, meaning, retryAfterMs(retryAfter, clock.now()) ?? 0);
      };
      if (!answer.ok) throw fail(answer.error.detail);
      const message = readJsonRpcAnswer(text);
      if (message !== null && "code" in message) throw fail(message.message, message.code, message.data);
      // A 5xx or 429 may come from a gateway, and the node behind it may have executed the call.
      const isUsable = message !== null && status < 500 && status !== 429;
      if (!isUsable) throw fail(`answered HTTP ${status} without a JSON-RPC answer`);
      if (!matchesResultSchema(method, params, message.result)) throw fail("answered in an unexpected shape");
      return message.result;
    },
  };
}

/** The chain id of an endpoint that has not yet said which it serves. */
const UNKNOWN_NETWORK = 0;

/**
 * Reads the chain id of the endpoint that answers first.
 *
 * @param rpcUrls They may hold tokens: they are in no error.
 * @param at Begins the error.
 * @param timeoutMs The deadline of the calls.
 * @throws TransientError when none answers.
 */
export async function readChainId(rpcUrls: readonly string[], at: string, timeoutMs: number): Promise<number> {
  // Nothing has started yet, so nothing closes.
  const context = { clock: SYSTEM_CLOCK, closing: new AbortController().signal, dispatcher: TRUSTED_CONNECTIONS };
  const ask = (url: string) => connectEndpoint(UNKNOWN_NETWORK, url, timeoutMs, context).request("eth_chainId", []);
  const answer = await Promise.any(rpcUrls.map(ask)).catch(({ errors }: AggregateError) => {
    const reasons = errors.map((error, index) => `rpcUrls/${index}: ${describeError(error)}`);
    throw new TransientError(
      `${at}: the chain id cannot be read: ${reasons.join("; ")}. Check rpcUrls, or set networkId to the chain id: then ` +
        "the operator starts, and serves the network once an endpoint answers.",
    );
  });
  return hexToNumber(answer as Hex);
}

function kindOf(meaning: NodeErrorKind): RpcErrorKind {
  return meaning === "no_answer" || meaning === "behind" ? "failed" : "refused";
}
