import { orNull } from "@dataset-oracle/protocol/http-schemas/fields";
import { parseJson } from "@dataset-oracle/protocol/parse-json";
import { postText } from "@dataset-oracle/service/http-client/trusted-request";
import { type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Hex, isHex } from "viem";
import { classifyNodeError } from "./node-errors.js";
import { RpcError, type RpcErrorKind } from "./rpc-error.js";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Makes JSON-RPC calls to one network. */
export interface JsonRpc {
  /** @throws RpcError */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Makes a call to every endpoint that is ready, if there are several. @throws RpcError when none answers. */
  requestEach?(method: string, params: readonly unknown[]): Promise<readonly unknown[]>;
  /** True while at least one endpoint passed its last check and has not failed since. */
  readonly isReady?: boolean;
  /** The newest block that each endpoint has shown, in the order of the configuration; 0 for one that is not ready. */
  readonly heads?: readonly number[];
}

/**
 * Connects one JSON-RPC endpoint. It never repeats a call by itself.
 *
 * @param url May contain a token, so it never appears in an error.
 * @param timeoutMs The deadline of each call.
 */
export function connectEndpoint(chainId: number, url: string, timeoutMs: number): JsonRpc {
  const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES };
  const withoutUrl = urlRemover(url);
  return {
    async request(method, params) {
      const fail = (kind: RpcErrorKind, reason: string, data: Hex | null = null) =>
        new RpcError(kind, chainId, method, reason, data);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const answer = await postText(url, {}, body, limits);
      if (!answer.ok) {
        const { code, detail } = answer.error;
        throw fail(code === "timeout" ? code : "failed", withoutUrl(detail));
      }
      const { status, text } = answer.value;
      // A 5xx or 429 may come from a gateway, and the node behind it may have executed the call.
      const message = status < 500 && status !== 429 ? parseAnswer(text) : null;
      if (message === null) throw fail("failed", `answered HTTP ${status} without a JSON-RPC answer`);
      if ("reason" in message) {
        throw fail(kindOf(message.reason), withoutUrl(message.reason).slice(0, 300), message.data);
      }
      if (!matchesResultSchema(method, params, message.result)) throw fail("failed", "answered in an unexpected shape");
      return message.result;
    },
  };
}

/** An error is an answer, unless the node says that it is too busy or gave up waiting: then another can be asked. */
function kindOf(reason: string): RpcErrorKind {
  const kind = classifyNodeError(reason);
  if (kind === "timeout") return "timeout";
  return kind === "rate_limited" ? "failed" : "refused";
}

type Message = { readonly result: unknown } | { readonly reason: string; readonly data: Hex | null };

function parseAnswer(text: string): Message | null {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null) return null;
  if ("error" in json && json.error !== null) return readError(json.error);
  return "result" in json ? { result: json.result } : null;
}

/** @returns Null when it is not a JSON-RPC error: then it may not come from the node. */
function readError(error: unknown): Message | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  if (typeof code !== "number") return null;
  const text = typeof message === "string" ? message : "";
  return { reason: `${code}: ${text}`, data: findHex(data) };
}

/** Most nodes put a call's revert data into `data`, some into `data.data`, and some put a word before it. */
function findHex(data: unknown): Hex | null {
  const found = typeof data === "object" && data !== null && "data" in data ? data.data : data;
  if (typeof found !== "string") return null;
  const hex = found.slice(Math.max(0, found.indexOf("0x")));
  return isHex(hex) ? hex : null;
}

/** Nodes and proxies repeat the URL in their messages, as it is or decoded, and it may hold a token. */
export function urlRemover(url: string): (text: string) => string {
  const { host, hostname, pathname, search } = new URL(url);
  const parts = [host, hostname, ...`${pathname}${search}`.split(/[/?&=]/)].flatMap((part) => [part, decoded(part)]);
  // A part of three characters or fewer is no token, and can occur in any word.
  const longestFirst = parts.filter(({ length }) => length > 3).toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => text;
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

const hex = (pattern: string) => Type.String({ pattern });

/** At most 2^53 - 1, so that it is exact as a number, too. */
const Quantity = hex("^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,12}|1[0-9a-fA-F]{13})$");
/** At most 2^256 - 1. */
const Wei = hex("^0x[0-9a-fA-F]{1,64}$");
const Bytes32 = hex("^0x[0-9a-fA-F]{64}$");
/** Any number of whole bytes. */
const Data = hex("^0x(?:[0-9a-fA-F]{2})*$");
const AccountAddress = hex("^0x[0-9a-fA-F]{40}$");

const Block = Type.Object({
  number: Quantity,
  hash: Bytes32,
  timestamp: Quantity,
  baseFeePerGas: Type.Optional(orNull(Quantity)),
});

const Log = Type.Object({
  data: Data,
  topics: Type.Array(Bytes32, { minItems: 1, maxItems: 4 }),
  transactionHash: Bytes32,
  blockNumber: Quantity,
  blockHash: Bytes32,
  logIndex: Quantity,
});

const Transaction = Type.Object({
  hash: Bytes32,
  from: AccountAddress,
  nonce: Quantity,
  to: orNull(AccountAddress),
  input: Data,
  gas: Wei,
  gasPrice: Type.Optional(orNull(Wei)),
  maxFeePerGas: Type.Optional(orNull(Wei)),
  maxPriorityFeePerGas: Type.Optional(orNull(Wei)),
});

const ByNonce = Type.Record(Type.String(), Transaction);

const Receipt = Type.Object({
  blockNumber: Quantity,
  blockHash: Bytes32,
  status: Quantity,
  logs: Type.Array(Type.Unknown()),
});

const RESULT_SCHEMAS: Record<string, TSchema> = {
  eth_blockNumber: Quantity,
  eth_call: Data,
  eth_chainId: Quantity,
  eth_estimateGas: Quantity,
  eth_gasPrice: Quantity,
  eth_getBalance: Wei,
  eth_getBlockByNumber: Block,
  eth_getLogs: Type.Array(Log),
  eth_getTransactionByHash: orNull(Transaction),
  eth_getTransactionBySenderAndNonce: orNull(Transaction),
  eth_getTransactionCount: Quantity,
  eth_getTransactionReceipt: orNull(Receipt),
  eth_maxPriorityFeePerGas: Quantity,
  eth_sendRawTransaction: Bytes32,
  txpool_contentFrom: Type.Object({ pending: ByNonce, queued: ByNonce }),
};

const CHECKS = new Map(Object.entries(RESULT_SCHEMAS).map(([method, shape]) => [method, TypeCompiler.Compile(shape)]));

/**
 * Checks that an answer has the shape that its JSON-RPC method requires, in as much of it as the operator uses. A
 * method that is not listed may answer anything.
 */
function matchesResultSchema(method: string, params: readonly unknown[], answer: unknown): boolean {
  // A chain always has a latest block; one that is named by number can be missing.
  const isNumbered = method === "eth_getBlockByNumber" && String(params[0]).startsWith("0x");
  return (isNumbered && answer === null) || (CHECKS.get(method)?.Check(answer) ?? true);
}
