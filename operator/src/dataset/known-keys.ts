import { type Hex, keccak256 } from "viem";
import type { UpdatePolicy } from "../schedule/policy.js";

/** The keys of a dataset that the operator's owner names, unlike those that callers name. */
export class KnownKeys {
  readonly #policies = new Map<Hex, UpdatePolicy | null>();
  readonly #byHash = new Map<Hex, Hex>();

  /** @param listed The keys that the deployment lists. */
  constructor(readonly listed: readonly Hex[]) {
    for (const key of listed) this.add(key);
  }

  /** @param policy When the key is updated without a request; null if it is not. */
  add(key: Hex, policy: UpdatePolicy | null = null): void {
    this.#policies.set(key, policy);
    this.#byHash.set(keccak256(key), key);
  }

  has(key: Hex): boolean {
    return this.#policies.has(key);
  }

  [Symbol.iterator](): IterableIterator<Hex> {
    return this.#policies.keys();
  }

  /** Returns when a key is updated without a request; null if it is not. */
  policyOf(key: Hex): UpdatePolicy | null {
    return this.#policies.get(key) ?? null;
  }

  /** Finds the keys of a batch, which names them by hash. Returns null if one is not known. */
  ofHashes(hashes: readonly Hex[]): readonly Hex[] | null {
    const keys = hashes.flatMap((hash) => this.#byHash.get(hash) ?? []);
    return keys.length === hashes.length ? keys : null;
  }
}
