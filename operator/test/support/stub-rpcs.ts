import Fastify from "fastify";
import { pino } from "pino";
import { Registry } from "prom-client";
import { numberToHex } from "viem";
import { type ChainClient, createChainClient } from "../../src/rpc/client.js";
import { RpcPool } from "../../src/rpc/pool.js";
import { createCoreMetrics } from "../../src/served-network.js";

/** An RPC endpoint of network 42. */
export interface StubRpc {
  readonly url: string;
  readonly asked: string[];
  chainId: number;
  head: number;
  /** Seconds since 1970. */
  timestamp: number;
  /** The answer to every method that is not about the network's id or a block. */
  answer: object;
  /** The HTTP status of that answer. */
  status: number;
  /** The header of the same name of that answer. */
  retryAfter: string | null;
  mode: "answers" | "hangs" | `HTTP ${number}`;
}

/** Seconds since 1970. */
export const NOW = 1_700_000_000;
/** Shorter ones end calls to healthy endpoints on a busy machine. */
export const RPC_TIMEOUT_MS = 2_000;
export const HASH = `0x${"1".repeat(64)}`;

/** RPC endpoints that answer from a table, over real HTTP, with a clock and a log for the clients of them. */
export class StubRpcs {
  nowMs = NOW * 1000;
  readonly log: string[] = [];
  readonly #closing = new AbortController();
  readonly #closers: (() => Promise<void>)[] = [];

  async start(change: Partial<StubRpc> = {}): Promise<StubRpc> {
    const server = Fastify({ forceCloseConnections: true });
    server.post("/secret-token", async (request, reply) => {
      const { id, method } = request.body as { id: number; method: string };
      rpc.asked.push(method);
      if (rpc.mode === "hangs") return new Promise(() => {});
      if (rpc.mode !== "answers") return reply.status(Number(rpc.mode.slice("HTTP ".length))).send("");
      const results: Record<string, object> = {
        eth_chainId: { result: numberToHex(rpc.chainId) },
        eth_getBlockByNumber: {
          result: { number: numberToHex(rpc.head), hash: HASH, timestamp: numberToHex(rpc.timestamp) },
        },
      };
      const result = results[method];
      if (result !== undefined) return { jsonrpc: "2.0", id, ...result };
      if (rpc.retryAfter !== null) reply.header("retry-after", rpc.retryAfter);
      return reply.status(rpc.status).send({ jsonrpc: "2.0", id, ...rpc.answer });
    });
    const url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/secret-token`;
    this.#closers.push(() => server.close());
    const rpc: StubRpc = {
      url,
      asked: [],
      chainId: 42,
      head: 100,
      timestamp: NOW,
      answer: { result: "0x1" },
      status: 200,
      retryAfter: null,
      mode: "answers",
      ...change,
    };
    return rpc;
  }

  async connect(...rpcs: readonly StubRpc[]): Promise<ChainClient> {
    const pool = await RpcPool.connect(
      42,
      rpcs.map(({ url }) => url),
      { rpcTimeoutMs: RPC_TIMEOUT_MS, rpcPollMs: 20, maxHeadLagBlocks: 3, maxHeadLagSeconds: 30 },
      {
        clock: () => this.nowMs,
        logger: pino({ level: "info" }, { write: (line: string) => this.log.push(line) }),
        closing: this.#closing.signal,
        errors: createCoreMetrics(new Registry()).rpcErrors,
      },
    );
    return createChainClient(42, pool);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#closers.map((close) => close()));
  }
}
