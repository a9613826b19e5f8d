import { TransientError } from "@dataset-oracle/service/config/config-error";
import { addressOf, type RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { type Context, SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { retryAfterMs } from "@dataset-oracle/service/process/fetch-result";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { callJsonRpc } from "@dataset-oracle/service/trusted/json-rpc";
import { isReset } from "@dataset-oracle/service/trusted/post-text";
import { MAX_ANSWER_BYTES } from "@dataset-oracle/service/trusted/rpc-transport";
import { urlRemover } from "@dataset-oracle/service/trusted/url-remover";
import { type Hex, hexToNumber } from "viem";
import { classifyNodeError, type ErrorMeaning, MEANINGS, meaningOf, SUBMIT, waitNamedIn } from "./node-errors.js";
import { describeError, RpcError, type RpcErrorKind } from "./rpc-error.js";

/** Decoding as many takes half a second. */
const MAX_LOGS = 2_000;
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

/** How often a transaction is submitted over connections that are reset. It stays the same transaction. */
const MAX_SUBMISSIONS = 3;

/**
 * Connects one JSON-RPC endpoint. It repeats a call only where the connection was reset: a read once, if the connection was an
 * idle one, and a submission twice.
 *
 * @param endpoint May contain a token, so it never appears in an error.
 * @param timeoutMs The deadline of each call.
 */
export function connectEndpoint(
  chainId: number,
  endpoint: RpcEndpoint,
  timeoutMs: number,
  { clock, closing, dispatcher }: Pick<Context, "clock" | "closing" | "dispatcher">,
): JsonRpc {
  const { url, headers, secrets } = addressOf(endpoint);
  const node = { url, headers, limits: { timeoutMs, maxBytes: MAX_ANSWER_BYTES }, dispatcher, closing };
  const withoutUrl = urlRemover(url, secrets);
  return {
    async request(method, params) {
      const isRead = method !== SUBMIT;
      let called = await callJsonRpc(node, method, params, { isRepeatable: isRead });
      let submissions = 1;
      for (; !isRead && !called.ok && isReset(called.error) && submissions < MAX_SUBMISSIONS; submissions++) {
        called = await callJsonRpc(node, method, params, { isFresh: true });
      }
      const { status, retryAfter } = called.ok ? called.value : { status: 0, retryAfter: null };
      const fail = (message: string, code: number | null = null, data: Hex | null = null): RpcError => {
        const hasRevertData = data !== null && data !== "0x";
        const isOfPending = params.includes("pending");
        const found = meaningOf({ method, isOfPending, status, code, message, hasRevertData });
        // A node may have taken a submission before it reset the connection, and refuse the next one because of that.
        const meaning = submissions > 1 && found !== "already_known" ? "no_answer" : found;
        const kind = classifyNodeError(message) === "timeout" ? "timeout" : kindOf(meaning);
        const reason = withoutUrl(code === null ? message : `${code}: ${message}`).slice(0, 300);
        const waitMs = retryAfterMs(retryAfter, clock.now()) ?? waitNamedIn(message) ?? 0;
        return new RpcError(kind, chainId, method, reason, data, meaning, waitMs);
      };
      if (!called.ok) throw fail(called.error.detail);
      const { answer, unusable } = called.value;
      if (answer === null) throw fail(unusable);
      if ("code" in answer) throw fail(answer.message, answer.code, answer.data);
      const { result } = answer;
      if (!Array.isArray(result) || result.length <= MAX_LOGS) return result;
      // Anyone can cause as many events in a block, and its search cannot be made smaller.
      if (kindOfRequest(method, params) === "eth_getLogs of 1 blocks") return result.slice(-MAX_LOGS);
      throw fail(`answered with more than ${MAX_LOGS} logs`);
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
export async function readChainId(rpcUrls: readonly RpcEndpoint[], at: string, timeoutMs: number): Promise<number> {
  // Nothing has started yet, so nothing closes.
  const context = { clock: SYSTEM_CLOCK, closing: new AbortController().signal, dispatcher: TRUSTED_CONNECTIONS };
  const ask = (endpoint: RpcEndpoint) =>
    connectEndpoint(UNKNOWN_NETWORK, endpoint, timeoutMs, context).request("eth_chainId", []);
  const answer = await Promise.any(rpcUrls.map(ask)).catch(({ errors }: AggregateError) => {
    const reasons = errors.map((error, index) => `rpcUrls/${index}: ${describeError(error)}`);
    throw new TransientError(
      `${at}: the chain id cannot be read: ${reasons.join("; ")}. Check rpcUrls, or set networkId to the chain id: then ` +
        "the operator starts, and serves the network once an endpoint answers.",
    );
  });
  return hexToNumber(answer as Hex);
}

function kindOf(meaning: ErrorMeaning): RpcErrorKind {
  return MEANINGS[meaning].endpoint === "is quarantined" || meaning === "behind" ? "failed" : "refused";
}
