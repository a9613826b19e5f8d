import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { backOffMs, type Context, repeat } from "@dataset-oracle/service/process/context";
import type { Logger } from "pino";
import type { Counter } from "prom-client";
import { type Hex, hexToNumber } from "viem";
import { connectEndpoint, type EndpointState, type JsonRpc, kindOfRequest } from "./endpoint.js";
import { lowerMedian } from "./lower-median.js";
import { MEANINGS, SUBMIT } from "./node-errors.js";
import { describeError, RpcError } from "./rpc-error.js";

export interface PoolSettings {
  /** A head that is further than this behind the median of all is stale. */
  readonly maxHeadLagBlocks: number;
  readonly maxHeadLagSeconds: number;
  /** The deadline of each call to one endpoint. */
  readonly rpcTimeoutMs: number;
  /** How often each endpoint's head is checked. */
  readonly rpcPollMs: number;
  /** The deployment file, which names the chain id. */
  readonly deployment?: string | undefined;
  /** The configured chain id; if there is no such file either, the id is that of the first endpoint that answered. */
  readonly networkId?: number | undefined;
}

export interface PoolContext extends Pick<Context, "clock" | "random" | "logger" | "closing" | "dispatcher"> {
  /** Counts every call that failed at an endpoint. */
  readonly errors: Counter<"network" | "endpoint" | "method" | "class">;
}

/** The newest block that an endpoint has shown. */
interface Head {
  readonly number: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

/** The state of one endpoint. */
export interface Health {
  /** Null while the endpoint is not ready: until it was found to be of the right chain, and after it has failed. */
  readonly head: Head | null;
  /** The number of failures since it last answered a call. */
  readonly failures: number;
  /** Until then the endpoint is not used, unless no other is ready; by the monotonic clock. */
  readonly quarantinedUntil: number;
}

interface Endpoint {
  /** Its index in the configuration, which is its name in log lines. */
  readonly index: number;
  readonly rpc: JsonRpc;
  health: Health;
  checking: Promise<void> | null;
  /** Null until it has been read. */
  chainId: number | null;
  /** When its chain id was last read, by the monotonic clock. */
  chainIdReadAt: number;
  /** The kinds of requests that it refused, and until when others are asked first, by the monotonic clock. */
  readonly without: Map<string, number>;
  /** The reason in the last log line about it; null while it is ready. */
  logged: string | null;
}

/** For how long others are asked first, when an endpoint does not offer a kind of request. */
const REMEMBER_WITHOUT_MS = 600_000;
/** How often the chain id of an endpoint is read while it is ready. */
const CHAIN_ID_MS = 60_000;
const QUARANTINE = { firstMs: 1_000, maxMs: 60_000 };
const MAX_FUTURE_SECONDS = 60;
const NO_HEAD: Head = { number: 0, timestamp: 0 };
/** The state of an endpoint that was never checked. */
export const UNCHECKED: Health = { head: null, failures: 0, quarantinedUntil: Number.NEGATIVE_INFINITY };

/**
 * Combines the endpoints of one network into one. A read goes to the first endpoint, in the order of the configuration,
 * that is ready and whose head is not stale; unless it answers for the chain, to the next, each once. A transaction goes to
 * all that are ready. Where none is left that is ready, those in quarantine are tried. What is done after an error is
 * decided by its meaning (MEANINGS in node-errors.ts); the chain id is checked before a quarantined endpoint is used again.
 */
export class RpcPool implements JsonRpc {
  readonly #endpoints: readonly Endpoint[];

  /** @param rpcs Its endpoints, in the order of the configuration; at least one. */
  constructor(
    private readonly chainId: number,
    rpcs: readonly JsonRpc[],
    private readonly context: PoolContext,
    private readonly settings: PoolSettings,
  ) {
    this.#endpoints = rpcs.map((rpc, index) => {
      const unread = { chainId: null, chainIdReadAt: Number.NEGATIVE_INFINITY };
      return { index, rpc, health: UNCHECKED, checking: null, ...unread, without: new Map(), logged: null };
    });
  }

  /**
   * Connects the endpoints, and checks them from then on.
   *
   * @param urls At least one. They may hold tokens: they are in no error and no log line.
   * @throws ConfigError when an endpoint serves another chain.
   */
  static async connect(
    chainId: number,
    urls: readonly RpcEndpoint[],
    context: PoolContext,
    settings: PoolSettings,
  ): Promise<RpcPool> {
    const rpcs = urls.map((url) => connectEndpoint(chainId, url, settings.rpcTimeoutMs, context));
    const pool = new RpcPool(chainId, rpcs, context, settings);
    await pool.checkAll();
    void repeat(settings.rpcPollMs, context.closing, () => pool.checkDue());
    return pool;
  }

  /**
   * Checks every endpoint. One that does not answer is checked again later.
   *
   * @throws ConfigError when an endpoint serves another chain.
   */
  async checkAll(): Promise<void> {
    await Promise.allSettled(this.#endpoints.map((endpoint) => this.#check(endpoint)));
    // Only now are all endpoints' chain ids known, so that the error can name them.
    const { foreign } = this;
    if (foreign !== null) throw foreign;
  }

  /** Says which endpoint serves another chain, as far as they have answered; null if none does. */
  get foreign(): ConfigError | null {
    const found = this.#endpoints.find(({ chainId }) => chainId !== null && chainId !== this.chainId);
    return found === undefined ? null : this.#otherNetwork(found);
  }

  get isReady(): boolean {
    return this.#endpoints.some(({ health }) => health.head !== null);
  }

  get endpoints(): EndpointState[] {
    return this.#endpoints.map(({ index, health: { head }, without }) => {
      const state = { ready: head !== null, block: head?.number ?? 0, without: [...without.keys()] };
      return { endpoint: `rpcUrls/${index}`, ...state };
    });
  }

  /** Makes a call. viem submits and reads through this one function; only the method tells them apart. */
  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return method === SUBMIT ? this.#submitToAll(method, params) : this.#readFromFirst(method, params);
  }

  /** Reads from the first endpoint that answers with something; from the last one, if all say that nothing is there. */
  async #readFromFirst(method: string, params: readonly unknown[]): Promise<unknown> {
    const kind = kindOfRequest(method, params);
    const tried = new Set<Endpoint>();
    const errors: RpcError[] = [];
    for (let nothing: unknown; ; ) {
      const failure = await this.#ensureReady(tried);
      const left = readableEndpoints(this.#endpoints, this.settings).filter((one) => !tried.has(one));
      const now = this.context.clock.monotonic();
      const endpoint = left.find(({ without }) => (without.get(kind) ?? 0) <= now) ?? left[0];
      if (endpoint === undefined && nothing !== undefined) return nothing;
      if (endpoint === undefined) throw mostTelling(errors) ?? failure ?? this.#noEndpoint();
      tried.add(endpoint);
      try {
        const answer = await this.#ask(endpoint, method, params, kind);
        // A node that lags has no such contract, block or transaction yet.
        if (answer !== "0x" && answer !== null) return answer;
        nothing = answer;
      } catch (error) {
        if (!(error instanceof RpcError) || MEANINGS[error.meaning].isFinal) throw error;
        errors.push(error);
      }
    }
  }

  async requestEach(method: string, params: readonly unknown[]): Promise<readonly unknown[]> {
    const failure = await this.#ensureReady();
    const calls = await Promise.allSettled(this.#askAllReady(method, params));
    const answers = calls.flatMap((call) => (call.status === "fulfilled" ? [call.value] : []));
    if (answers.length > 0) return answers;
    throw mostTelling(calls.map((call) => (call as PromiseRejectedResult).reason)) ?? failure ?? this.#noEndpoint();
  }

  /** Submits a transaction to all endpoints that are ready: one that accepts it is enough. */
  async #submitToAll(method: string, params: readonly unknown[]): Promise<unknown> {
    const tried = new Set<Endpoint>();
    const errors: unknown[] = [];
    for (;;) {
      const failure = await this.#ensureReady(tried);
      const calls = this.#askAllReady(method, params, tried);
      if (calls.length === 0) throw ofSubmission(errors) ?? failure ?? this.#noEndpoint();
      try {
        return await Promise.any(calls);
      } catch (error) {
        errors.push(...(error as AggregateError).errors);
      }
    }
  }

  /** Starts a call to every endpoint that is ready, and notes that it was tried. */
  #askAllReady(method: string, params: readonly unknown[], tried = new Set<Endpoint>()): readonly Promise<unknown>[] {
    const ready = this.#endpoints.filter((one) => one.health.head !== null && !tried.has(one));
    const kind = kindOfRequest(method, params);
    return ready.map((endpoint) => {
      tried.add(endpoint);
      return this.#ask(endpoint, method, params, kind);
    });
  }

  async #ask(endpoint: Endpoint, method: string, params: readonly unknown[], kind: string): Promise<unknown> {
    try {
      const answer = await endpoint.rpc.request(method, params);
      this.#worked(endpoint, kind);
      return answer;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const labels = { network: this.chainId, endpoint: `rpcUrls/${endpoint.index}`, method: error.method };
      this.context.errors.inc({ ...labels, class: error.kind });
      const becomes = MEANINGS[error.meaning].endpoint;
      if (becomes === "is quarantined") this.#quarantine(endpoint, error);
      else if (becomes === "is asked last") this.#remember(endpoint, kind, error);
      else if (becomes === "works") this.#worked(endpoint, kind);
      throw error;
    }
  }

  #worked(endpoint: Endpoint, kind: string): void {
    endpoint.health = { ...endpoint.health, failures: 0 };
    if (endpoint.without.delete(kind))
      this.#log(endpoint).info({ request: kind }, "RPC endpoint answers such requests again");
  }

  #remember(endpoint: Endpoint, kind: string, error: RpcError): void {
    const isNew = !endpoint.without.has(kind);
    endpoint.without.set(kind, this.context.clock.monotonic() + REMEMBER_WITHOUT_MS);
    if (isNew) this.#log(endpoint).info({ request: kind, reason: error.reason }, "RPC endpoint does not offer this");
  }

  /**
   * Checks all endpoints at once that were not tried yet, if none is ready: a quarantine never leaves a network without one.
   *
   * @returns Why none of them passes; null when one is ready, or all were tried.
   */
  async #ensureReady(tried: ReadonlySet<Endpoint> = new Set()): Promise<RpcError | null> {
    const left = this.isReady ? [] : this.#endpoints.filter((one) => !tried.has(one));
    if (left.length === 0) return null;
    return Promise.any(left.map((endpoint) => this.#check(endpoint))).then(
      () => null,
      ({ errors }: AggregateError) => errors.find((reason) => reason instanceof RpcError) ?? this.#noEndpoint(),
    );
  }

  #noEndpoint(): RpcError {
    return new RpcError("failed", this.chainId, "eth_chainId", "no endpoint can be used");
  }

  /** Checks an endpoint's head, and its chain id unless it was ready and the chain id was read recently. */
  #check(endpoint: Endpoint): Promise<void> {
    endpoint.checking ??= this.#runCheck(endpoint)
      .catch((error: unknown) => {
        this.#quarantine(endpoint, error);
        throw error;
      })
      .finally(() => {
        endpoint.checking = null;
      });
    return endpoint.checking;
  }

  async #runCheck(endpoint: Endpoint): Promise<void> {
    const { rpc, health } = endpoint;
    const isRecent = this.context.clock.monotonic() - endpoint.chainIdReadAt < CHAIN_ID_MS;
    if (health.head === null || !isRecent) {
      endpoint.chainId = hexToNumber((await rpc.request("eth_chainId", [])) as Hex);
      endpoint.chainIdReadAt = this.context.clock.monotonic();
      if (endpoint.chainId !== this.chainId) throw this.#otherNetwork(endpoint);
    }
    const block = (await rpc.request("eth_getBlockByNumber", ["latest", false])) as { number: Hex; timestamp: Hex };
    const head = { number: hexToNumber(block.number), timestamp: hexToNumber(block.timestamp) };
    if (isFromTheFuture(head, this.context.clock.now())) {
      throw new RpcError(
        "failed",
        this.chainId,
        "eth_getBlockByNumber",
        "its newest block is more than 60 s ahead of this machine's clock",
      );
    }
    if (endpoint.logged !== null) {
      this.#log(endpoint).info("RPC endpoint is back");
      endpoint.without.clear();
      endpoint.logged = null;
    }
    // A check is no proof that calls are answered: its failures are forgotten one by one.
    const failures = Math.max(0, health.failures - (health.head === null ? 0 : 1));
    endpoint.health = { head, failures, quarantinedUntil: Number.NEGATIVE_INFINITY };
  }

  /** Without a deployment file, either endpoint can be the wrong one. */
  #otherNetwork({ index, chainId }: Endpoint): ConfigError {
    const where = `network ${this.chainId}: rpcUrls/${index} belongs to network ${chainId}`;
    if (this.settings.deployment !== undefined)
      return new ConfigError(`${where}. Correct it, or set deployment to the file of network ${chainId}.`);
    const own = this.#endpoints.find((endpoint) => endpoint.chainId === this.chainId);
    const contrast = own === undefined ? "" : `, but rpcUrls/${own.index} to network ${this.chainId}`;
    const others = this.settings.networkId === undefined ? "" : " or networkId";
    return new ConfigError(`${where}${contrast}. Correct rpcUrls${others}.`);
  }

  #quarantine(endpoint: Endpoint, error: unknown): void {
    const { clock, closing } = this.context;
    const now = clock.monotonic();
    // Calls that end with the process say nothing of it.
    if (closing.aborted) return;
    // Several calls can fail at once: that is one failure.
    if (endpoint.health.quarantinedUntil > now) return;
    const leastMs = error instanceof RpcError ? error.retryAfterMs : 0;
    endpoint.health = afterFailure(endpoint.health, now, this.context.random, leastMs);
    // Whatever was asked, the same reason is no change.
    const cause = error instanceof RpcError ? error.reason : String(error);
    if (cause === endpoint.logged) return;
    endpoint.logged = cause;
    const quarantinedMs = endpoint.health.quarantinedUntil - now;
    this.#log(endpoint).warn({ reason: describeError(error), quarantinedMs }, "RPC endpoint failed");
  }

  #log({ index }: Endpoint): Logger {
    return this.context.logger.child({ endpoint: `rpcUrls/${index}` });
  }

  /** Checks the endpoints that are not in quarantine. It never throws. */
  async checkDue(): Promise<void> {
    const due = this.#endpoints.filter(({ health }) => health.quarantinedUntil <= this.context.clock.monotonic());
    await Promise.allSettled(due.map((endpoint) => this.#check(endpoint)));
  }
}

/** @param leastMs What the endpoint asks for, which is obeyed up to the longest quarantine. */
export function afterFailure({ failures }: Health, nowMs: number, random: () => number, leastMs = 0): Health {
  const quarantineMs = Math.max(backOffMs(failures + 1, QUARANTINE, random), Math.min(leastMs, QUARANTINE.maxMs));
  return { head: null, failures: failures + 1, quarantinedUntil: nowMs + quarantineMs };
}

/**
 * Selects the error that says most of those that the endpoints gave to one read. What an endpoint does not offer comes
 * first, because callers may know another way.
 */
function mostTelling(errors: readonly RpcError[]): RpcError | undefined {
  const ofKind = errors.find(({ meaning }) => meaning === "not_offered");
  return ofKind ?? errors.find(({ kind }) => kind === "refused") ?? errors.at(-1);
}

/**
 * Selects the error of a transaction that no endpoint accepted: by the meanings' rank, a fault of this program being no
 * answer, and of two alike, the longer one, because it may name the fee that the node wants.
 */
export function ofSubmission(errors: readonly unknown[]): unknown {
  const rank = (error: unknown) => MEANINGS[error instanceof RpcError ? error.meaning : "no_answer"].rank;
  const length = (error: unknown) => (error instanceof RpcError ? error.reason.length : 0);
  return errors.toSorted((a, b) => rank(a) - rank(b) || length(b) - length(a))[0];
}

/** A block that is more than a minute ahead of this machine's clock is not believed. */
export function isFromTheFuture({ timestamp }: Head, nowMs: number): boolean {
  return timestamp > nowMs / 1000 + MAX_FUTURE_SECONDS;
}

/**
 * Selects the endpoints to read from, in order: those that are ready, as configured, and then any that are ahead, without
 * those that are behind. Both are measured against the median head (of an even number the lower one in the middle), so that
 * one false head changes nothing. Two endpoints have no majority: of them the one that is behind only comes last.
 */
export function readableEndpoints<E extends { readonly health: Health }>(
  all: readonly E[],
  { maxHeadLagBlocks, maxHeadLagSeconds }: Pick<PoolSettings, "maxHeadLagBlocks" | "maxHeadLagSeconds">,
): readonly E[] {
  const headOf = ({ health }: E) => health.head ?? NO_HEAD;
  const ready = all.filter(({ health }) => health.head !== null);
  const isPair = ready.length <= 2;
  const middleOf = (field: keyof Head) => {
    const all = ready.map((one) => headOf(one)[field]);
    return isPair ? Math.max(0, ...all) : (lowerMedian(all) ?? 0);
  };
  const middle = { number: middleOf("number"), timestamp: middleOf("timestamp") };
  const isBehind = (head: Head, other: Head) =>
    other.number - head.number > maxHeadLagBlocks || other.timestamp - head.timestamp > maxHeadLagSeconds;
  const behind = ready.filter((one) => isBehind(headOf(one), middle));
  const ahead = ready.filter((one) => !behind.includes(one) && isBehind(middle, headOf(one)));
  const preferred = [...ready.filter((one) => !behind.includes(one) && !ahead.includes(one)), ...ahead];
  return isPair ? [...preferred, ...behind] : preferred;
}
