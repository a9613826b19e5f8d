import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import type { Result } from "@dataset-oracle/protocol/result";
import type { RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { isLogged } from "@dataset-oracle/service/http-server/trace";
import type { Context } from "@dataset-oracle/service/process/context";
import { rpcTransport } from "@dataset-oracle/service/trusted/rpc-transport";
import { LRUCache } from "lru-cache";
import { type Address, createPublicClient, type Hex, type PublicClient } from "viem";
import type { KeyBudget, ReportCaller, TracedCaller } from "../callers/caller.js";
import { type RateLimit, SharedRate, TokenBuckets } from "../callers/rate-limit.js";
import { problem, retryAfter } from "../problems.js";
import { type CompiledRequest, compileCanonicalSpec } from "./compile-spec.js";
import type { PublishedSpecStore } from "./published-spec-store.js";

/** The registry of one network's specs. */
export interface SpecRegistrySettings {
  readonly chainId: number;
  readonly address: Address;
  /** It may contain a token, so no error shows it. */
  readonly rpcUrl: RpcEndpoint;
}

const RPC_MS = 4_000;

/** Reads published specs from one network. */
export class SpecRegistry {
  readonly #client: PublicClient;
  #isChecked = false;

  constructor(
    context: Pick<Context, "dispatcher" | "closing">,
    private readonly settings: SpecRegistrySettings,
  ) {
    this.#client = createPublicClient({ transport: rpcTransport(settings.rpcUrl, RPC_MS, context) });
  }

  /**
   * Returns the bytes of a published spec, or null when it was never published.
   *
   * @throws When the RPC endpoint does not answer, answers nonsense, or belongs to another network.
   */
  async read(specHash: Hex): Promise<Hex | null> {
    const { address: registry, chainId } = this.settings;
    if (!this.#isChecked) {
      const actual = await ask("eth_chainId", () => this.#client.getChainId());
      if (actual !== chainId) throw new Error(`webOracle/rpcUrls/${chainId} belongs to network ${actual}`);
      this.#isChecked = true;
    }
    return ask("reading the spec", () => readPublishedSpec(this.#client, { registry, specHash }));
  }
}

async function ask<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // viem's messages contain the URL.
    throw new Error(`${what} failed (${error instanceof Error ? error.name : "an error"})`);
  }
}

/** The rate limit for each network's registry, because anonymous callers choose the hashes. */
const REGISTRY_RATE = { perSecond: 5, burst: 20 };
/** How many lookups of unpublished specs each caller may cause. */
const ANONYMOUS_MISSES: RateLimit = { perSecond: 1 / 6, burst: 10 };
const OPERATOR_MISSES: RateLimit = { perSecond: 1, burst: 60 };
/** How long a spec that was found not to be published is not looked up again. */
const UNPUBLISHED_MS = 5_000;
const MAX_UNPUBLISHED = 10_000;
const MAX_COMPILED = 1_000;
/** As how many keys a spec counts that is compiled, which takes up to 6 ms. */
const COMPILE_COST = 50;
/** The wait that callers are told when a registry cannot be read. */
const RETRY_MS = 2_000;

const newLookups = (misses: RateLimit) => ({
  pending: new Map<string, Promise<CompiledRequest>>(),
  misses: new TokenBuckets(misses),
});

/** Finds published specs: in memory, else on disk, else on chain. */
export class SpecFinder {
  /** Published specs, valid or not, by network and hash. */
  readonly #compiled = new LRUCache<string, Result<CompiledRequest>>({ max: MAX_COMPILED });
  readonly #unpublished = new LRUCache<string, true>({ max: MAX_UNPUBLISHED, ttl: UNPUBLISHED_MS });
  /** The specs that are being read from disk, by network and hash: a row may have many keys of one. */
  readonly #loading = new Map<string, Promise<CompiledRequest | null>>();
  /** The lookups on chain that are in progress, by network and hash: those of operators, and the others. */
  readonly #ofOperators = newLookups(OPERATOR_MISSES);
  readonly #ofAnonymous = newLookups(ANONYMOUS_MISSES);
  /** By network. */
  readonly #rates: ReadonlyMap<number, SharedRate>;

  /**
   * @param hasReserve Reserves a part of the registries' rate limits for reserved callers.
   */
  constructor(
    private readonly registries: ReadonlyMap<number, Pick<SpecRegistry, "read">>,
    private readonly specStore: Pick<PublishedSpecStore, "read" | "write">,
    private readonly budget: KeyBudget,
    private readonly context: Pick<Context, "clock" | "closing" | "logger">,
    hasReserve: boolean,
  ) {
    this.#rates = new Map([...registries.keys()].map((id) => [id, new SharedRate(context, REGISTRY_RATE, hasReserve)]));
  }

  /**
   * Finds a spec. A caller that asked for too many specs that are not published is refused without a lookup, so that it
   * cannot use up the registry's rate limit, which those who have just published a spec need.
   *
   * @throws ProblemError when the spec is not published or not valid, or cannot be looked up now.
   */
  async find(chainId: number, specHash: Hex, caller: TracedCaller): Promise<CompiledRequest> {
    const id = `${chainId}/${specHash}`;
    const known = this.#compiled.get(id);
    if (known !== undefined) return requireValid(known);
    if (this.#unpublished.has(id)) throw specNotPublished(specHash, chainId);
    const stored = await (this.#loading.get(id) ?? this.#load(id, chainId, specHash, caller));
    if (stored !== null) return stored;
    // Callers share a lookup, but not a refusal: each has limits of its own. Operators do not wait behind the others.
    return this.#lookupsOf(caller).pending.get(id) ?? this.#startLookup(id, chainId, specHash, caller);
  }

  /** Reads and compiles a spec that is stored; null when it is not. */
  #load(id: string, chainId: number, specHash: Hex, caller: ReportCaller): Promise<CompiledRequest | null> {
    this.budget.charge(caller, COMPILE_COST);
    const read = this.specStore.read(chainId, specHash);
    const loading = read.then((stored) => stored && this.#compile(id, stored)).finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  #lookupsOf({ mayUseReserve }: ReportCaller): ReturnType<typeof newLookups> {
    return mayUseReserve ? this.#ofOperators : this.#ofAnonymous;
  }

  #startLookup(id: string, chainId: number, specHash: Hex, caller: TracedCaller): Promise<CompiledRequest> {
    const { clock, logger } = this.context;
    const { trace } = caller;
    const [registry, rate] = [this.registries.get(chainId), this.#rates.get(chainId)];
    if (registry === undefined || rate === undefined) throw specNotPublished(specHash, chainId);
    const { pending, misses } = this.#lookupsOf(caller);
    const now = clock.monotonic();
    const missWaitMs = misses.waitMs(caller.id, now);
    if (missWaitMs > 0) throw problemIn("too_many_requests", missWaitMs);
    // Charged in advance and refunded unless it is a miss, because many lookups may be made at once.
    misses.spend(caller.id, 1, now);
    const refund = () => misses.spend(caller.id, -1, clock.monotonic());
    const warn = (fields: object, text: string) => {
      if (isLogged(trace)) logger.warn({ network: chainId, spec: specHash, ...fields }, text);
    };
    const lookUp = async () => {
      const turn = await rate.turn(caller.mayUseReserve);
      if (!turn.ok) {
        refund();
        throw problemIn("registry_unavailable", turn.error);
      }
      const spec = await registry.read(specHash).catch((error: Error) => {
        refund();
        warn({ reason: error.message }, "registry cannot be read");
        throw problemIn("registry_unavailable", RETRY_MS);
      });
      if (spec === null) {
        this.#unpublished.set(id, true);
        throw specNotPublished(specHash, chainId);
      }
      refund();
      await this.specStore.write(chainId, specHash, spec).catch((error: NodeJS.ErrnoException) => {
        warn({ reason: error.code }, "spec not stored on disk");
      });
      return this.#compile(id, spec);
    };
    const lookup = lookUp().finally(() => pending.delete(id));
    pending.set(id, lookup);
    return lookup;
  }

  #compile(id: string, spec: Hex): CompiledRequest {
    const compiled = compileCanonicalSpec(spec);
    this.#compiled.set(id, compiled);
    return requireValid(compiled);
  }
}

/** The problem of a key whose spec is not published. */
const specNotPublished = (specHash: string, chainId: number) =>
  problem(
    "unknown_key",
    { key: specHash, reason: "is not published" },
    {
      title: "The key's request spec is not published.",
      detail:
        `No spec with the hash ${specHash} is published on network ${chainId}. Publish it with "provider publish", ` +
        "and try again after the transaction is mined.",
    },
  );

function problemIn(code: "too_many_requests" | "registry_unavailable", waitMs: number): ProblemError {
  const seconds = Math.ceil(waitMs / 1_000);
  return problem(code, { seconds }, retryAfter(seconds));
}

function requireValid(compiled: Result<CompiledRequest>): CompiledRequest {
  if (!compiled.ok) throw problem("invalid_spec", { problem: compiled.error });
  return compiled.value;
}
