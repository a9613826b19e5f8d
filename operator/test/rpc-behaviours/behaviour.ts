import type { RpcCall, RpcReply } from "../support/rpc-proxy.js";

/** Calls that are answered otherwise than by an ideal node. */
export interface RpcQuestion {
  /** Completes "the endpoint answers ...". */
  readonly name: string;
  matches(call: Pick<RpcCall, "method" | "params">): boolean;
}

/** What they are answered. */
export interface Answered {
  /** Completes "the endpoint answers ... with ...". */
  readonly name: string;
  /** @param nth How many such calls the endpoint got before. @returns Null to pass the call on. */
  reply(call: RpcCall, nth: number): RpcReply | null;
}

export const EVERYTHING: RpcQuestion = { name: "everything", matches: () => true };

export const methods = (name: string, ...listed: readonly string[]): RpcQuestion => ({
  name,
  matches: ({ method }) => listed.includes(method),
});

const EXECUTIONS = ["eth_call", "eth_estimateGas", "eth_simulateV1"];
export const EXECUTION = methods("calls of contracts", ...EXECUTIONS);
export const STATE = methods("reads of the state", ...EXECUTIONS, "eth_getBalance", "eth_getTransactionCount");
export const SUBMISSION = methods("submissions", "eth_sendRawTransaction");
export const READS: RpcQuestion = { name: "reads", matches: (call) => !SUBMISSION.matches(call) };
export const RECEIPTS = methods("eth_getTransactionReceipt", "eth_getTransactionReceipt");
export const only = (method: string): RpcQuestion => methods(method, method);

const isPending = ({ params }: Pick<RpcCall, "params">) => params.includes("pending");
/** Nodes without a pending block mostly lack eth_simulateV1, too. */
export const PENDING_BLOCK: RpcQuestion = {
  name: "calls on the pending block",
  matches: (call) => call.method === "eth_simulateV1" || (EXECUTION.matches(call) && isPending(call)),
};
export const PENDING_COUNT: RpcQuestion = {
  name: "the pending transaction count",
  matches: (call) => call.method === "eth_getTransactionCount" && isPending(call),
};

const always = (name: string, reply: RpcReply): Answered => ({ name, reply: () => reply });

/** A JSON-RPC error. */
export function error(code: number, message: string, more: { data?: unknown; status?: number } = {}): Answered {
  const { data, status = 200 } = more;
  const name = `${status === 200 ? "" : `HTTP ${status}, `}${code}: ${message}`;
  return always(name, { status, body: { error: { code, message, ...(data === undefined ? {} : { data }) } } });
}

/** A text that is no JSON-RPC answer. */
export const http = (status: number, text: string, headers: Record<string, string> = {}): Answered =>
  always(`HTTP ${status} ${JSON.stringify(text)}`, { status, headers, body: text });

/** A page of a web server or a content delivery network. */
export const page = (status: number, title: string): Answered =>
  http(status, `<html><title>${title}</title></html>`, { "content-type": "text/html" });

/** A whole body, with its own id. */
export const body = (json: unknown): Answered => always(JSON.stringify(json), { body: json });

export const result = (value: unknown): Answered =>
  always(`the result ${JSON.stringify(value)}`, { body: { result: value } });

/** @param name Completes "the chain's own result, ...". */
export const changed = (name: string, change: (result: never) => unknown): Answered =>
  always(`the chain's own result, ${name}`, { change });

export const SILENCE = always("silence", { connection: "stays silent" });
export const RESET = always("a reset of the connection", { connection: "is reset" });
export const RESET_IN_ANSWER = always("a reset in the middle of an answer", {
  connection: "is reset in the answer",
  body: { result: "0x1" },
});

/** As of servers that close idle connections: only what is sent on a connection that has been used before fails. */
export const RESET_OF_REUSED: Answered = {
  name: "a reset of every connection that is used again",
  reply: ({ isReused }) => (isReused ? { connection: "is reset" } : null),
};

/** @param count How many calls it lasts. */
export const times = (count: number, { name, reply }: Answered): Answered => ({
  name: `${name} (${count === 1 ? "once" : `${count} times`})`,
  reply: (call, nth) => (nth < count ? reply(call, nth) : null),
});

/** The chain gets the call, and only the answer is another. */
export const afterPassingOn = ({ name, reply }: Answered): Answered => ({
  name: `${name}, after it has passed them on`,
  reply: (call, nth) => ({ ...reply(call, nth), isPassedOn: true }),
});
