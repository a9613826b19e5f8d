import type { Socket } from "node:net";
import Fastify from "fastify";
import { type Hex, keccak256 } from "viem";
import { closeAtEnd } from "./close-at-end.js";

/** How the proxy answers a call instead of passing it on. */
export type RpcFault =
  | "drops"
  | "HTTP 429"
  | "HTTP 500"
  | "refuses to override code"
  | "ignores overrides of code"
  | "hides what a call reverted with"
  | "swallows";

/** A call that the endpoint gets. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** True if its connection has carried another call before. */
  readonly isReused: boolean;
}

/** What the endpoint does with one call. */
export interface RpcReply {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, or as JSON: an object that is no list gets the version and the call's id unless it has them. */
  readonly body?: unknown;
  /** What happens to the connection instead of a whole answer. */
  readonly connection?: "stays silent" | "is reset" | "is reset in the answer";
  /** True if the chain gets the call before. */
  readonly isPassedOn?: boolean;
  /** Changes the result that the chain gives, which is then the answer. */
  readonly change?: (result: never) => unknown;
}

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>;

/** Starts a JSON-RPC endpoint in front of a chain, with a token in its path, that can be told to fail. */
export async function startRpcProxy(chainUrl: string, host = "127.0.0.1") {
  const server = Fastify({ forceCloseConnections: true });
  const faults = new Map<string, RpcFault>();
  /** Fixed answers by method, for which the chain is not asked. */
  const answers = new Map<string, { readonly status?: number; readonly body: unknown }>();
  const calls: { readonly method: string; readonly params: unknown[] }[] = [];
  const proxy = {
    /** `eth_getLogs` is refused for more blocks. */
    maxLogBlocks: Number.POSITIVE_INFINITY,
    /** Chooses what is done with a call; null passes it on. */
    script: (_call: RpcCall): RpcReply | null => null,
  };
  const gates = new Map<string, Promise<void>>();
  const connections = new WeakSet<Socket>();
  server.post("/token-nobody-may-see", async (request, reply) => {
    const { id, method, params } = request.body as { id: number; method: string; params: unknown[] };
    const { socket } = request.raw;
    const isReused = connections.has(socket);
    connections.add(socket);
    calls.push({ method, params });
    await gates.get(method);
    const scripted = proxy.script({ method, params, isReused });
    if (scripted !== null) {
      const { status = 200, headers = {}, connection, change, isPassedOn = change !== undefined } = scripted;
      const passed = isPassedOn ? JSON.parse(await passOn(chainUrl, request.body)) : null;
      if (connection === "stays silent") return new Promise(() => {});
      if (connection === "is reset") {
        socket.destroy();
        return reply.hijack();
      }
      const body = change === undefined ? scripted.body : { ...passed, result: change(passed.result as never) };
      const text = bodyText(body, id);
      if (connection === "is reset in the answer") {
        reply.raw.writeHead(status, { ...headers, "content-length": text.length + 1 });
        reply.raw.write(text, () => socket.destroy());
        return reply.hijack();
      }
      const type = typeof body === "string" ? "text/plain" : "application/json";
      return reply
        .status(status)
        .headers({ "content-type": type, ...headers })
        .send(text);
    }
    const answer = answers.get(method);
    if (answer) return reply.status(answer.status ?? 200).send({ jsonrpc: "2.0", id, ...(answer.body as object) });
    if (method === "eth_getLogs" && blocksOf(params) > proxy.maxLogBlocks) {
      return { jsonrpc: "2.0", id, error: { code: -32005, message: "query exceeds max block range" } };
    }
    const fault = faults.get(method) ?? faults.get("*");
    if (fault === "drops") {
      reply.raw.destroy();
      return reply.hijack();
    }
    if (fault === "HTTP 429") return reply.status(429).send("Too Many Requests");
    if (fault === "HTTP 500") return reply.status(500).send("");
    // It says that it has taken a transaction, and never passes it on.
    if (fault === "swallows") return { jsonrpc: "2.0", id, result: keccak256(params[0] as Hex) };
    const hasCode = method === "eth_call" && JSON.stringify(params[2] ?? {}).includes('"code"');
    if (fault === "refuses to override code" && hasCode) {
      return { jsonrpc: "2.0", id, error: { code: -32602, message: "invalid argument 2" } };
    }
    // A node that ignores the override calls an account without code.
    if (fault === "ignores overrides of code" && hasCode) return { jsonrpc: "2.0", id, result: "0x" };
    const text = await passOn(chainUrl, request.body);
    if (fault === "hides what a call reverted with") {
      const { error, ...rest } = JSON.parse(text);
      return error ? { ...rest, error: { code: error.code, message: "execution reverted" } } : rest;
    }
    return reply.type("application/json").send(text);
  });
  const base = await server.listen({ host, port: 0 });
  const url = `${base}/token-nobody-may-see`;
  return Object.assign(proxy, { url, faults, answers, calls, gates, close: closeAtEnd(() => server.close()) });
}

async function passOn(chainUrl: string, call: unknown): Promise<string> {
  const response = await fetch(chainUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(call),
    signal: AbortSignal.timeout(5_000),
  });
  return response.text();
}

function bodyText(body: unknown, id: number): string {
  if (typeof body === "string") return body;
  const isMessage = typeof body === "object" && body !== null && !Array.isArray(body);
  return JSON.stringify(isMessage ? { jsonrpc: "2.0", id, ...body } : body);
}

function blocksOf([filter]: unknown[]): number {
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
  return Number(toBlock) - Number(fromBlock) + 1;
}
