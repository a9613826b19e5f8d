import type { Socket } from "node:net";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import Fastify from "fastify";

/** How the proxy answers a call instead of passing it on. */
export type RpcFault = "drops" | "HTTP 429" | "HTTP 500";

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

const FAULTS: Readonly<Record<RpcFault, RpcReply>> = {
  drops: { connection: "is reset" },
  "HTTP 429": { status: 429, body: "Too Many Requests" },
  "HTTP 500": { status: 500, body: "" },
};

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>;

/** Starts a JSON-RPC endpoint in front of a chain, with a token in its path, that can be told to fail. */
export async function startRpcProxy(chainUrl: string, host = "127.0.0.1") {
  const server = Fastify({ forceCloseConnections: true });
  const proxy = {
    /** Faults by method; `*` is every other one. */
    faults: new Map<string, RpcFault>(),
    /** Fixed answers by method, for which the chain is not asked. */
    answers: new Map<string, RpcReply>(),
    /** What calls of a method wait for. */
    gates: new Map<string, Promise<void>>(),
    calls: [] as { readonly method: string; readonly params: unknown[] }[],
    /** Chooses what is done with a call; null leaves it to the maps, or passes it on. */
    script: (_call: RpcCall): RpcReply | null | Promise<RpcReply | null> => null,
  };
  const connections = new WeakSet<Socket>();
  server.post("/token-nobody-may-see", async (request, reply) => {
    const { id, method, params } = request.body as { id: number; method: string; params: unknown[] };
    const { socket } = request.raw;
    const isReused = connections.has(socket);
    connections.add(socket);
    proxy.calls.push({ method, params });
    await proxy.gates.get(method);
    const fault = proxy.faults.get(method) ?? proxy.faults.get("*");
    const scripted = (await proxy.script({ method, params, isReused })) ?? proxy.answers.get(method);
    const chosen: RpcReply = scripted ?? (fault === undefined ? { change: (result: never) => result } : FAULTS[fault]);
    const { status = 200, headers = {}, connection, change, isPassedOn = change !== undefined } = chosen;
    const passed = isPassedOn ? await passOn(chainUrl, request.body) : {};
    if (connection === "stays silent") return new Promise(() => {});
    if (connection === "is reset") {
      socket.destroy();
      return reply.hijack();
    }
    const body =
      "result" in passed && change !== undefined
        ? { ...passed, result: change(passed.result as never) }
        : (chosen.body ?? passed);
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
  });
  const url = `${await server.listen({ host, port: 0 })}/token-nobody-may-see`;
  return Object.assign(proxy, { url, close: closeAtEnd(() => server.close()) });
}

async function passOn(chainUrl: string, call: unknown): Promise<object & { readonly result?: unknown }> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(call) };
  return (await (await fetch(chainUrl, init)).json()) as object;
}

function bodyText(body: unknown, id: number): string {
  if (typeof body === "string") return body;
  const isMessage = typeof body === "object" && body !== null && !Array.isArray(body);
  return JSON.stringify(isMessage ? { jsonrpc: "2.0", id, ...body } : body);
}
