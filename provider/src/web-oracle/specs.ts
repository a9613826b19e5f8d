import { setTimeout as sleep } from "node:timers/promises";
import type { Result } from "@dataset-oracle/protocol/result";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { TokenBucket } from "../source/token-bucket.js";
import { type CompiledRequest, compileCanonical } from "./compile.js";
import { type Registry, RegistryError } from "./registry.js";
import type { SpecFolder } from "./spec-folder.js";

/** What is known of a spec. */
export type FoundSpec =
  | { readonly kind: "published"; readonly request: Result<CompiledRequest> }
  | { readonly kind: "unknown" }
  /** Nothing is known now; `retryAfter` in seconds. */
  | { readonly kind: "unavailable"; readonly retryAfter: number };

/** How often one network's registry is asked: strangers choose the hashes. */
const REGISTRY_RATE = { perSecond: 5, burst: 20 };
/** How long a spec that was not published is not asked for again, in milliseconds. */
const UNKNOWN_MS = 5_000;
const MAX_UNKNOWN = 10_000;
const MAX_COMPILED = 1_000;

export interface SpecsParts {
  readonly registries: ReadonlyMap<number, Pick<Registry, "read">>;
  readonly folder: Pick<SpecFolder, "read" | "write">;
  /** Whether a part of the registry's rate is kept for those that it is reserved for. */
  readonly hasReserve: boolean;
  readonly logger: Logger;
}

/** The published specs of all networks: in memory, else on disk, else from the chain. */
export class Specs {
  readonly #parts: SpecsParts;
  /** By network and hash; what was used last comes last. */
  readonly #compiled = new Map<string, Result<CompiledRequest>>();
  /** Until when a spec counts as not published, by `performance.now()`; the oldest first. */
  readonly #unknown = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<FoundSpec>>();
  readonly #buckets = new Map<number, TokenBucket>();

  constructor(parts: SpecsParts) {
    this.#parts = parts;
  }

  /** @param isReserved Whether it is asked for somebody for whom a part of the rate is reserved. */
  async find(chainId: number, specHash: Hex, isReserved: boolean): Promise<FoundSpec> {
    const id = `${chainId}/${specHash}`;
    const request = this.#compiled.get(id);
    if (request !== undefined) {
      this.#keep(id, request);
      return { kind: "published", request };
    }
    if ((this.#unknown.get(id) ?? 0) > performance.now()) return { kind: "unknown" };
    const running = this.#underWay.get(id) ?? this.#load(id, chainId, specHash, isReserved);
    this.#underWay.set(id, running);
    return running.finally(() => this.#underWay.delete(id));
  }

  async #load(id: string, chainId: number, specHash: Hex, isReserved: boolean): Promise<FoundSpec> {
    const { folder, logger } = this.#parts;
    const kept = await folder.read(chainId, specHash);
    if (kept !== null) return this.#keep(id, compileCanonical(kept));
    const registry = this.#parts.registries.get(chainId);
    if (registry === undefined) return { kind: "unknown" };
    const turn = this.#bucket(chainId).take(isReserved, performance.now());
    if (!turn.ok) return { kind: "unavailable", retryAfter: Math.ceil(turn.retryAfterMs / 1_000) };
    if (turn.waitMs > 0) await sleep(turn.waitMs);
    try {
      const spec = await registry.read(specHash);
      if (spec === null) return this.#remember(id);
      await folder.write(chainId, specHash, spec).catch((error: NodeJS.ErrnoException) => {
        logger.warn({ network: chainId, spec: specHash, error: error.code }, "the spec is not kept on disk");
      });
      return this.#keep(id, compileCanonical(spec));
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      logger.warn({ network: chainId, spec: specHash, reason: error.message }, "the registry cannot be read");
      return { kind: "unavailable", retryAfter: 2 };
    }
  }

  #keep(id: string, request: Result<CompiledRequest>): FoundSpec {
    this.#compiled.delete(id);
    this.#compiled.set(id, request);
    dropOldest(this.#compiled, MAX_COMPILED);
    return { kind: "published", request };
  }

  #remember(id: string): FoundSpec {
    this.#unknown.delete(id);
    this.#unknown.set(id, performance.now() + UNKNOWN_MS);
    dropOldest(this.#unknown, MAX_UNKNOWN);
    return { kind: "unknown" };
  }

  #bucket(chainId: number): TokenBucket {
    const bucket =
      this.#buckets.get(chainId) ?? new TokenBucket(REGISTRY_RATE, this.#parts.hasReserve, performance.now());
    this.#buckets.set(chainId, bucket);
    return bucket;
  }
}

function dropOldest(map: Map<string, unknown>, maxSize: number): void {
  const [oldest] = map.keys();
  if (map.size > maxSize && oldest !== undefined) map.delete(oldest);
}
