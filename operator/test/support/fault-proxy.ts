import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Choices } from "@dataset-oracle/tools/seeded-random";
import { NODE_ERROR_TEXTS } from "../../src/rpc/node-errors.js";

/** A fault that the proxy injects into a call. */
export type CallFault =
  | "dropped"
  | "delayed"
  | "reset in the answer"
  | "HTTP error"
  | "error in a node's words"
  | "accepted, then silent"
  | "stale head";

export interface FaultProxy {
  readonly url: string;
  /** The share of calls that get a fault, from 0 to 1. */
  faultRate: number;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  readonly random: Choices;
  /** Receives the number of faults of each kind. */
  readonly tally: Record<string, number>;
  /** The prefix of the counted faults. */
  readonly name: "RPC" | "provider";
  readonly faults: readonly [CallFault, ...CallFault[]];
  /** The address to listen on; this machine's own by default. */
  readonly host?: string;
}

/** A silent call hangs longer than any caller waits. */
const SILENCE_MS = 12_000;
const STALE_MS = 3_000;
const HTTP_ERRORS = [429, 500, 502, 503, 504] as const;
/** These errors are answered without passing the call on. */
const TEXTS = NODE_ERROR_TEXTS.filter(([, kind]) => kind !== "already_known" && kind !== "insufficient_funds");
/** An endpoint that is behind answers these methods from its memory. */
const HEAD_METHODS = ["eth_blockNumber", "eth_getBlockByNumber", "eth_getTransactionCount"];

/** Passes HTTP calls on to `upstream`, and makes some of them fail as networks and nodes do. */
export async function startFaultProxy(upstream: string, options: FaultProxyOptions): Promise<FaultProxy> {
  const { random, tally, name, host = "127.0.0.1" } = options;
  const remembered = new Map<string, string>();
  let staleUntil = 0;
  const proxy = { faultRate: 0 };
  const ending = new AbortController();

  const count = (fault: CallFault) => {
    const id = `${name}: ${fault}`;
    tally[id] = (tally[id] ?? 0) + 1;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const pass = () => passOn(`${upstream}${request.url === "/" ? "" : request.url}`, body, ending.signal);
    const call = name === "RPC" ? (JSON.parse(body) as { id: number; method: string; params: unknown[] }) : null;
    const memory = call && HEAD_METHODS.includes(call.method) ? `${call.method} ${JSON.stringify(call.params)}` : null;
    const stale = memory !== null && Date.now() < staleUntil ? remembered.get(memory) : undefined;
    if (stale !== undefined) return send(response, 200, stale);

    const fault = random.next() < proxy.faultRate ? random.pick(options.faults) : null;
    if (fault !== null) count(fault);
    if (fault === "dropped") return void response.destroy();
    if (fault === "delayed") await delay(50 + random.below(700));
    if (fault === "HTTP error") return send(response, random.pick(HTTP_ERRORS), "upstream failed");
    if (fault === "error in a node's words" && call !== null) {
      const [text] = TEXTS[random.below(TEXTS.length)] ?? ["underpriced"];
      return send(
        response,
        200,
        JSON.stringify({ jsonrpc: "2.0", id: call.id, error: { code: -32000, message: text } }),
      );
    }
    if (fault === "stale head") staleUntil = Date.now() + STALE_MS;
    const answer = await pass();
    if (memory !== null && answer.status === 200) remembered.set(memory, answer.text);
    if (fault === "accepted, then silent") {
      await delay(SILENCE_MS, undefined, { signal: ending.signal }).catch(() => {});
      return void response.destroy();
    }
    if (fault === "reset in the answer") {
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.text.length + 9 });
      response.write(answer.text.slice(0, answer.text.length / 2), () => response.destroy());
      return;
    }
    return send(response, answer.status, answer.text);
  }

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return Object.assign(proxy, {
    url,
    async close() {
      ending.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function passOn(url: string, body: string, ending: AbortSignal): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(10_000)]);
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body, signal });
  return { status: response.status, text: await response.text() };
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(text);
}
