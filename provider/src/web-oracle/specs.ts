import { setTimeout as sleep } from "node:timers/promises";
import { err, type Result } from "@dataset-oracle/protocol/result";
import type { ProblemError } from "@dataset-oracle/service/problem";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { invalidSpec, registryUnavailable, specNotPublished } from "../problems.js";
import { TokenBucket } from "../source/token-bucket.js";
import { type CompiledRequest, compileCanonical } from "./compile.js";
import { type Registry, RegistryError } from "./registry.js";
import type { SpecFolder } from "./spec-folder.js";

/** The rate limit for each network's registry, because anonymous callers choose the hashes. */
const REGISTRY_RATE = { perSecond: 5, burst: 20 };
/** How long a spec that is not published is not looked up again. */
const UNPUBLISHED_MS = 5_000;
const MAX_UNPUBLISHED = 10_000;
const MAX_COMPILED = 1_000;
/** The wait that callers are told when a registry cannot be read, in seconds. */
const RETRY_AFTER = 2;

export interface SpecsParts {
  readonly registries: ReadonlyMap<number, Pick<Registry, "read">>;
  readonly folder: Pick<SpecFolder, "read" | "write">;
  /** Reserves a part of the registries' rate limits for reserved callers. */
  readonly hasReserve: boolean;
  readonly logger: Logger;
}

/** Finds published specs: in memory, else on disk, else on chain. */
export class Specs {
  readonly #parts: SpecsParts;
  /** Published specs, valid or not, by network and hash. */
  readonly #compiled = new LRUCache<string, Result<CompiledRequest, ProblemError>>({ max: MAX_COMPILED });
  readonly #unpublished = new LRUCache<string, true>({ max: MAX_UNPUBLISHED, ttl: UNPUBLISHED_MS });
  readonly #loading = new Map<string, Promise<Result<CompiledRequest, ProblemError>>>();
  readonly #buckets = new Map<number, TokenBucket>();

  constructor(parts: SpecsParts) {
    this.#parts = parts;
  }

  /** Finds a spec. With `isReserved`, it may use the reserved part of the registry's rate limit. */
  async find(chainId: number, specHash: Hex, isReserved: boolean): Promise<Result<CompiledRequest, ProblemError>> {
    const id = `${chainId}/${specHash}`;
    const known = this.#compiled.get(id);
    if (known !== undefined) return known;
    if (this.#unpublished.has(id)) return err(specNotPublished(specHash, chainId));
    const loading = this.#loading.get(id) ?? this.#load(id, chainId, specHash, isReserved);
    this.#loading.set(id, loading);
    return loading.finally(() => this.#loading.delete(id));
  }

  async #load(
    id: string,
    chainId: number,
    specHash: Hex,
    isReserved: boolean,
  ): Promise<Result<CompiledRequest, ProblemError>> {
    const { registries, folder, logger } = this.#parts;
    const stored = await folder.read(chainId, specHash);
    if (stored !== null) return this.#compile(id, stored);
    const registry = registries.get(chainId);
    if (registry === undefined) return err(specNotPublished(specHash, chainId));
    const wait = this.#bucketOf(chainId).take(isReserved, performance.now());
    if (!wait.ok) return err(registryUnavailable(Math.ceil(wait.error / 1_000)));
    if (wait.value > 0) await sleep(wait.value);
    try {
      const spec = await registry.read(specHash);
      if (spec === null) {
        this.#unpublished.set(id, true);
        return err(specNotPublished(specHash, chainId));
      }
      await folder.write(chainId, specHash, spec).catch((error: NodeJS.ErrnoException) => {
        logger.warn({ network: chainId, spec: specHash, error: error.code }, "spec not stored on disk");
      });
      return this.#compile(id, spec);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      logger.warn({ network: chainId, spec: specHash, reason: error.message }, "registry cannot be read");
      return err(registryUnavailable(RETRY_AFTER));
    }
  }

  #compile(id: string, spec: Hex): Result<CompiledRequest, ProblemError> {
    const compiled = compileCanonical(spec);
    const result = compiled.ok ? compiled : err(invalidSpec(compiled.error));
    this.#compiled.set(id, result);
    return result;
  }

  #bucketOf(chainId: number): TokenBucket {
    const bucket =
      this.#buckets.get(chainId) ?? new TokenBucket(REGISTRY_RATE, this.#parts.hasReserve, performance.now());
    this.#buckets.set(chainId, bucket);
    return bucket;
  }
}
