import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { LRUCache } from "lru-cache";
import { type Address, concatBytes, type Hex, hexToBytes, keccak256, numberToBytes } from "viem";

/** What an order of the members is about. */
export type RankSubject =
  /** A round, in seconds since 1970: the stored one of a key, or the round in which a member contradicted itself. */
  | { readonly round: bigint }
  /** The keccak256 of a key that was never stored. */
  | { readonly keyHash: Hex };

/**
 * Orders members by keccak256(dataset, subject, member), lowest first: 20, 32 and 20 bytes, a round as a uint256. Everyone
 * computes the same order, each member is first equally often, and when one leaves, the order of the others stays the same.
 *
 * @param members In any order, without duplicates.
 * @returns The members, best rank first, spelled as they were given.
 */
export function rankMembers(dataset: Address, subject: RankSubject, members: readonly Address[]): readonly Address[] {
  const about = "keyHash" in subject ? hexToBytes(subject.keyHash) : numberToBytes(subject.round, { size: 32 });
  return lowestFirst(concatBytes([hexToBytes(dataset), about]), members, (member) => member);
}

/**
 * Chooses which of the keys that were never stored are started at a beat: those with the lowest keccak256(dataset, round,
 * key hash). Another choice at every beat lets none that cannot be stored hold up the others.
 */
export function keysToStart(dataset: Address, round: bigint, keys: readonly Hex[], count: number): readonly Hex[] {
  if (keys.length <= count) return keys;
  const prefix = concatBytes([hexToBytes(dataset), numberToBytes(round, { size: 32 })]);
  return lowestFirst(prefix, keys, (key) => keccak256(key)).slice(0, count);
}

function lowestFirst<T extends Hex>(prefix: Uint8Array, all: readonly T[], suffixOf: (one: T) => Hex): readonly T[] {
  return all
    .map((one) => ({ one, hash: keccak(concatBytes([prefix, hexToBytes(suffixOf(one))])) }))
    .toSorted((a, b) => Buffer.compare(a.hash, b.hash))
    .map(({ one }) => one);
}

/** Orders the members of one dataset, and remembers the latest orders, because keys that were stored together share one. */
export class Ranking {
  readonly #orders = new LRUCache<bigint, readonly Address[]>({
    max: 64,
    memoMethod: (round) => rankMembers(this.dataset, { round }, this.members),
  });

  /** @param members Those that run an operator for the dataset's keys, in any order. */
  constructor(
    readonly dataset: Address,
    readonly members: readonly Address[],
  ) {}

  /** @param storedRound The stored round of the key, in seconds since 1970; 0 if it was never stored. */
  orderOf(keyHash: Hex, storedRound: bigint): readonly Address[] {
    if (storedRound === 0n) return rankMembers(this.dataset, { keyHash }, this.members);
    return this.#orders.memo(storedRound);
  }
}
