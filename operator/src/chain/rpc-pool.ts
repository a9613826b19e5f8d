import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@dataset-oracle/service/config";
import { Type } from "@sinclair/typebox";
import type { Logger } from "pino";
import { hexToNumber } from "viem";
import type { Clock } from "../clock.js";
import { connectEndpoint } from "./endpoint.js";
import {
  afterCheck,
  afterFailure,
  type Health,
  isFromTheFuture,
  type LagLimits,
  readable,
  UNCHECKED,
} from "./health.js";
import { Quantity, type Rpc, RpcError, requestAs, requestQuantity } from "./rpc.js";

export interface PoolSettings {
  /** The deadline of each call to one endpoint. */
  readonly timeoutMs: number;
  /** How often each endpoint's head is looked at. */
  readonly pollMs: number;
  readonly lag: LagLimits;
}

export interface PoolContext {
  readonly clock: Clock;
  /** Of this network. */
  readonly logger: Logger;
  /** Ends the looking. */
  readonly closing: AbortSignal;
  /** Is told of every call that failed at an endpoint. */
  readonly metrics?: { rpcFailed(chainId: number, place: number, error: RpcError): void };
}

interface Endpoint {
  /** Its place in the configuration: what log lines call it. */
  readonly place: number;
  readonly rpc: Rpc;
  health: Health;
  checking: Promise<void> | null;
}

const HeadBlock = Type.Object({ number: Quantity, timestamp: Quantity });

/**
 * The endpoints of one network as one. A read goes to the first in the order of the configuration that is ready and
 * whose head is not stale; if it fails there, to the next, each once. A transaction goes to all that are ready. Who
 * fails is left alone for a while, and its chain id is checked before it is used again.
 */
export class RpcPool implements Rpc {
  readonly #endpoints: readonly Endpoint[];

  private constructor(
    readonly chainId: number,
    urls: readonly string[],
    private readonly settings: PoolSettings,
    private readonly context: PoolContext,
  ) {
    this.#endpoints = urls.map((url, place) => {
      const rpc = connectEndpoint(chainId, url, settings.timeoutMs);
      return { place, rpc, health: UNCHECKED, checking: null };
    });
  }

  /**
   * Checks every endpoint. One that does not answer is tried again later.
   *
   * @param urls At least one. They may hold tokens: they are in no error and no log line.
   * @throws ConfigError when one is of another chain. RpcError when none answers.
   */
  static async connect(
    chainId: number,
    urls: readonly string[],
    settings: PoolSettings,
    context: PoolContext,
  ): Promise<RpcPool> {
    const pool = new RpcPool(chainId, urls, settings, context);
    const checks = await Promise.allSettled(pool.#endpoints.map((endpoint) => pool.#check(endpoint)));
    const problems: unknown[] = checks.flatMap((check) => (check.status === "rejected" ? [check.reason] : []));
    const wrong = problems.find((problem) => !(problem instanceof RpcError));
    if (wrong !== undefined) throw wrong;
    if (problems.length === urls.length) throw problems[0];
    void pool.#watch();
    return pool;
  }

  /** Whether an endpoint was found well when last asked. */
  get isReady(): boolean {
    return this.#endpoints.some(({ health }) => health.isReady);
  }

  async request(method: string, params: readonly unknown[], isUsable?: (result: unknown) => boolean): Promise<unknown> {
    if (method === "eth_sendRawTransaction") return this.#send(method, params, isUsable);
    const tried = new Set<Endpoint>();
    for (let last: unknown; ; ) {
      const endpoint = (await this.#usable()).find((one) => !tried.has(one));
      if (endpoint === undefined) throw last ?? this.#noEndpoint();
      tried.add(endpoint);
      try {
        return await this.#ask(endpoint, method, params, isUsable);
      } catch (error) {
        // A refusal is an answer: another node would give the same.
        if (error instanceof RpcError && error.failure === "refused") throw error;
        last = error;
        if (!this.isReady) throw error;
      }
    }
  }

  /** What all endpoints say to a transaction: one that takes it is enough. */
  async #send(method: string, params: readonly unknown[], isUsable?: (result: unknown) => boolean): Promise<unknown> {
    await this.#usable();
    const ready = this.#endpoints.filter(({ health }) => health.isReady);
    try {
      return await Promise.any(ready.map((endpoint) => this.#ask(endpoint, method, params, isUsable)));
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      // Where one of them may have taken it, nothing is certain.
      const isOpen = (reason: unknown) => !(reason instanceof RpcError) || reason.failure !== "refused";
      throw error.errors.find(isOpen) ?? error.errors[0] ?? this.#noEndpoint();
    }
  }

  async #ask(
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
    isUsable?: (result: unknown) => boolean,
  ): Promise<unknown> {
    try {
      return await endpoint.rpc.request(method, params, isUsable);
    } catch (error) {
      if (error instanceof RpcError) this.context.metrics?.rpcFailed(this.chainId, endpoint.place, error);
      if (error instanceof RpcError && error.failure !== "refused") this.#quarantine(endpoint, error);
      throw error;
    }
  }

  /**
   * The endpoints to read from. If none is ready, all are checked at once: a quarantine never leaves a network without an
   * endpoint.
   *
   * @throws RpcError, or ConfigError of an endpoint that is of another chain, when none passes.
   */
  async #usable(): Promise<readonly Endpoint[]> {
    if (!this.isReady) {
      const checks = this.#endpoints.map((endpoint) => this.#check(endpoint));
      await Promise.any(checks).catch((error: AggregateError) => {
        throw error.errors.find((reason) => reason instanceof RpcError) ?? this.#noEndpoint();
      });
    }
    const places = readable(
      this.#endpoints.map(({ health }) => health),
      this.settings.lag,
    );
    return places.flatMap((place) => this.#endpoints[place] ?? []);
  }

  #noEndpoint(): RpcError {
    return new RpcError("failed", this.chainId, "eth_chainId", "no endpoint can be used");
  }

  /** Looks at an endpoint; at its chain id, too, unless it was ready. */
  #check(endpoint: Endpoint): Promise<void> {
    endpoint.checking ??= this.#look(endpoint).finally(() => {
      endpoint.checking = null;
    });
    return endpoint.checking;
  }

  async #look(endpoint: Endpoint): Promise<void> {
    const { rpc, health } = endpoint;
    try {
      if (!health.isReady) await this.#checkChainId(endpoint);
      const block = await requestAs(rpc, HeadBlock, "eth_getBlockByNumber", ["latest", false]);
      const head = { number: hexToNumber(block.number), timestamp: hexToNumber(block.timestamp) };
      if (isFromTheFuture(head, this.context.clock())) {
        throw new RpcError("failed", this.chainId, "eth_getBlockByNumber", "its head is from the future");
      }
      if (!health.isReady && health.failures > 0) this.#log(endpoint).info("RPC endpoint is back");
      endpoint.health = afterCheck(head);
    } catch (error) {
      this.#quarantine(endpoint, error);
      throw error;
    }
  }

  async #checkChainId({ place, rpc }: Endpoint): Promise<void> {
    const chainId = Number(await requestQuantity(rpc, "eth_chainId", []));
    if (chainId === this.chainId) return;
    throw new ConfigError(
      `network ${this.chainId}: its RPC is of network ${chainId}. Correct rpcUrls/${place}, or name the deployment of ` +
        `${chainId}.`,
    );
  }

  #quarantine(endpoint: Endpoint, error: unknown): void {
    const reason = error instanceof RpcError ? `${error.method}: ${error.reason}` : String(error);
    const now = this.context.clock();
    // Several calls can fail at once: that is one failure.
    if (endpoint.health.quarantinedUntil > now) return;
    endpoint.health = afterFailure(endpoint.health, now);
    const forMs = endpoint.health.quarantinedUntil - now;
    this.#log(endpoint).warn({ reason, quarantinedMs: forMs }, "RPC endpoint failed");
  }

  #log({ place }: Endpoint): Logger {
    return this.context.logger.child({ endpoint: `rpcUrls/${place}` });
  }

  async #watch(): Promise<void> {
    const { clock, closing } = this.context;
    while (!closing.aborted) {
      await delay(this.settings.pollMs, undefined, { signal: closing, ref: false }).catch(() => {});
      if (closing.aborted) return;
      const due = this.#endpoints.filter(({ health }) => health.quarantinedUntil <= clock());
      await Promise.allSettled(due.map((endpoint) => this.#check(endpoint)));
    }
  }
}
