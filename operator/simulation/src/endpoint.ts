import { LRUCache } from "lru-cache";
import { type Hex, keccak256 } from "viem";
import type { Chain, MinedBlock } from "./chain/chain.js";
import { answerCall, type NodeFaults, type NodeReply } from "./chain/node.js";
import type { NodeLie } from "./lies.js";
import type { HttpExchange } from "./network.js";
import type { Random } from "./random.js";

/** How a call fails: whether the node still does what it was asked, and what the caller gets. */
interface CallFault {
  readonly name: string;
  readonly isDone: boolean;
  readonly reply:
    | "silence"
    | "reset"
    | { readonly status: number; readonly body: string; readonly retryAfter?: string };
}

const jsonError = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } });

/** Errors by what they mean: nothing came, the answer got lost, a gateway, a quota, a node that lags or gave up. */
const RPC_FAULTS: readonly CallFault[] = [
  { name: "reset", isDone: false, reply: "reset" },
  { name: "silence", isDone: false, reply: "silence" },
  { name: "lost answer", isDone: true, reply: "reset" },
  { name: "done, then silent", isDone: true, reply: "silence" },
  { name: "503", isDone: false, reply: { status: 503, body: "upstream failed" } },
  { name: "504", isDone: true, reply: { status: 504, body: "<html>gateway timeout</html>" } },
  { name: "429", isDone: false, reply: { status: 429, body: "slow down", retryAfter: "2" } },
  { name: "quota", isDone: false, reply: { status: 200, body: jsonError(-32_005, "daily request limit exceeded") } },
  { name: "lag", isDone: false, reply: { status: 200, body: jsonError(-32_001, "header not found") } },
  { name: "gave up", isDone: true, reply: { status: 200, body: jsonError(-32_000, "request timed out") } },
  { name: "not JSON", isDone: false, reply: { status: 200, body: "<html>" } },
];

type RpcRefusal = { readonly error: { readonly message: string } };

/** The methods whose answers depend on the node's newest block only, unless they are asked for what is pending. */
const OF_BLOCKS = ["eth_getBlockByNumber", "eth_getLogs", "eth_call"];

/** One JSON-RPC endpoint, as all operators reach it. Faults set its fields. */
export class SimulatedEndpoint implements NodeFaults {
  isDown = false;
  isSilent = false;
  isLagging = false;
  /** What it says that is not so; null if it is honest. */
  lie: NodeLie | null = null;
  /** The share of calls that fail. */
  errorRate = 0;
  /** Above 0, half of the calls are answered by a node that is so many blocks behind. */
  balancedBehind = 0;
  receiptsLateMs = 0;
  gasFactor = 1;
  logBlocks = Number.MAX_SAFE_INTEGER;
  /** When it last failed a call, in milliseconds since 1970. */
  failedAt = 0;
  #view: MinedBlock;
  /** What all operators ask of a block, in JSON. */
  readonly #answers = new LRUCache<MinedBlock, Map<string, string>>({ max: 8 });

  constructor(
    readonly index: number,
    private readonly chain: Chain,
    private readonly random: Random,
  ) {
    this.#view = chain.head;
  }

  /** Whether calls to it can fail, or count as failed. */
  get isFailing(): boolean {
    return this.isDown || this.isSilent || this.errorRate > 0 || this.lie !== null;
  }

  /** Shows it a new head, some time after the block. */
  announce(): void {
    const { head } = this.chain;
    setTimeout(
      () => {
        if (!this.isLagging && this.#view.number < head.number) this.#view = head;
      },
      this.random.between(100, 800),
    );
  }

  /**
   * Answers a call.
   *
   * @param isAlive Reports whether the caller still runs.
   * @param done Called with how it ended, for the trace.
   */
  serve(exchange: HttpExchange, isAlive: () => boolean, done: (method: string, outcome: string) => void): void {
    const { random } = this;
    const { method, params, id } = JSON.parse(exchange.body) as { method: string; params: unknown[]; id: number };
    const ms = random.logNormal(20, 0.5);
    const fault = this.#fault();
    if (fault !== null) this.failedAt = Date.now();
    const behind = this.balancedBehind > 0 && random.chance(0.5) ? this.balancedBehind : 0;
    if (fault?.isDone === false) {
      done(method, fault.name);
      if (fault.reply !== "silence") setTimeout(() => isAlive() && fail(exchange, fault), ms);
      return;
    }
    setTimeout(() => {
      // What has reached it, it does, whatever has become of the caller.
      let view = this.#view;
      for (let i = 0; i < behind && view.parent !== null; i++) view = view.parent;
      const node = (...call: [string, readonly unknown[]]) => JSON.parse(this.#reply(view, ...call)) as NodeReply;
      const lie = this.lie?.answer(method, params, node) ?? null;
      const reply = lie === null ? this.#reply(view, method, params) : JSON.stringify(lie);
      const text = `{"jsonrpc":"2.0","id":${id},${reply.slice(1)}`;
      const about = method === "eth_sendRawTransaction" ? ` ${keccak256(params[0] as Hex).slice(0, 10)}` : "";
      const refusal = reply.startsWith('{"error"') ? (JSON.parse(reply) as RpcRefusal).error.message : null;
      done(`${method}${about}`, fault?.name ?? (lie && this.lie?.name) ?? refusal ?? String(text.length));
      setTimeout(() => {
        if (!isAlive()) return;
        if (fault === null) exchange.answer(200, text);
        else fail(exchange, fault);
      }, ms / 2);
    }, ms / 2);
  }

  /** Answers a call, in JSON. What depends on nothing but the block is computed once. */
  #reply(view: MinedBlock, method: string, params: readonly unknown[]): string {
    const answer = () => JSON.stringify(answerCall(this.chain, view, this, method, params, Date.now()));
    if (!OF_BLOCKS.includes(method) || params.includes("pending")) return answer();
    const known = this.#answers.get(view) ?? new Map<string, string>();
    this.#answers.set(view, known);
    const id = `${method} ${this.logBlocks} ${JSON.stringify(params)}`;
    const reply = known.get(id) ?? answer();
    known.set(id, reply);
    return reply;
  }

  #fault(): CallFault | null {
    if (this.isDown) return { name: "down", isDone: false, reply: "reset" };
    if (this.isSilent) return { name: "silence", isDone: false, reply: "silence" };
    return this.errorRate > 0 && this.random.chance(this.errorRate) ? this.random.pick(RPC_FAULTS) : null;
  }
}

function fail(exchange: HttpExchange, { reply }: CallFault): void {
  if (reply === "silence") return;
  if (reply === "reset") exchange.fail("ECONNRESET");
  else
    exchange.answer(
      reply.status,
      reply.body,
      reply.retryAfter === undefined ? {} : { "retry-after": reply.retryAfter },
    );
}
