import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import type { Clock } from "../../context.js";
import type { Dataset } from "../../dataset/dataset.js";
import { contentOf, keysOf, type Statement } from "../../reports/statement.js";

/** The maximum size of one signer's statements on one dataset, in characters; above it the oldest are dropped. */
const MAX_HELD = 1024 * 1024;
/** The approximate size of an entry without its key. */
const ENTRY = 300;
const KINDS = ["report", "row"] as const;
/** How far a round may be in the future, in seconds, because the signer's clock is ahead. */
const MAX_AHEAD = 10n;
/** Each member of a committee has one at the most. */
const MAX_CONTRADICTIONS = 1_000;

/** The proof that a provider signed two conflicting statements about one key and round. */
export interface Contradiction {
  readonly dataset: Dataset;
  readonly provider: Address;
  readonly key: Hex;
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly statements: readonly [Statement, Statement];
  /** In milliseconds since 1970. */
  readonly foundAt: number;
}

type SignerOf = `${Address} ${Address}`;

/**
 * The statements of a network's committees that this operator has seen: the first of each signer, key and round. A
 * later one that conflicts with it proves that its signer has contradicted itself.
 */
export class HeldStatements {
  readonly #held = new Map<SignerOf, HeldOfSigner>();
  /** They are kept after the signer was ejected: they tell why. */
  readonly #contradictions = new LRUCache<SignerOf, Contradiction>({ max: MAX_CONTRADICTIONS });
  /** Those whose signer has left the committee. If the signer comes back, its new statements count again. */
  readonly #settled = new WeakSet<Contradiction>();

  constructor(private readonly clock: Clock) {}

  /**
   * Holds a statement of a member of the dataset's committee, unless its round cannot be stored, or its signer has
   * contradicted itself, with this statement or earlier.
   */
  add(dataset: Dataset, statement: Statement): "held" | "old" | "contradicted" {
    const { provider, round } = statement;
    if (this.hasContradicted(dataset, provider)) return "contradicted";
    if (!this.#isStorableRound(dataset, round)) return "old";
    const held = this.#heldOf(dataset, provider);
    for (const key of keysOf(statement)) {
      for (const other of KINDS) {
        const first = held.first(other, round, key);
        if (first !== undefined && contentOf(first, key) !== contentOf(statement, key)) {
          this.#contradict(dataset, { provider, key, round, statements: [first, statement] });
          return "contradicted";
        }
      }
      held.hold(statement, key);
    }
    return "held";
  }

  /** Reports whether a member of the dataset's committee has contradicted itself since it became one. */
  hasContradicted(dataset: Dataset, provider: Address): boolean {
    const found = this.#contradictions.peek(signerOf(dataset, provider));
    return found !== undefined && !this.#settled.has(found);
  }

  /** Lists the proofs found so far, the newest first. */
  get contradictions(): readonly Contradiction[] {
    return [...this.#contradictions.values()];
  }

  /** Lists the proofs against present members. */
  get unsettled(): readonly Contradiction[] {
    return this.contradictions.filter((found) => !this.#settled.has(found));
  }

  /** Takes note that the signer has left the committee. */
  settle(found: Contradiction): void {
    this.#settled.add(found);
    this.#held.delete(signerOf(found.dataset, found.provider));
  }

  #isStorableRound({ maxRoundAge }: Dataset, round: bigint): boolean {
    const now = BigInt(Math.floor(this.clock() / 1000));
    return round <= now + MAX_AHEAD && round + maxRoundAge > now;
  }

  #heldOf(dataset: Dataset, provider: Address): HeldOfSigner {
    const known = this.#held.get(signerOf(dataset, provider));
    if (known !== undefined) return known;
    // Former members' statements are dropped.
    const { members } = dataset.committee.current;
    for (const signer of this.#held.keys()) {
      const [of, member] = signer.split(" ") as [Address, Address];
      if (of === dataset.address && !members.includes(member)) this.#held.delete(signer);
    }
    const created = new HeldOfSigner();
    this.#held.set(signerOf(dataset, provider), created);
    return created;
  }

  #contradict(dataset: Dataset, found: Omit<Contradiction, "dataset" | "foundAt">): void {
    if (this.hasContradicted(dataset, found.provider)) return;
    this.#contradictions.set(signerOf(dataset, found.provider), { ...found, dataset, foundAt: this.clock() });
  }
}

/** The statements of one signer on one dataset: of each round, the first report and the first row about each key. */
class HeldOfSigner {
  /** In the order in which they came. */
  readonly #rounds = new Map<bigint, Record<Statement["kind"], Map<Hex, Statement>> & { size: number }>();
  #size = 0;

  first(kind: Statement["kind"], round: bigint, key: Hex): Statement | undefined {
    return this.#rounds.get(round)?.[kind].get(key);
  }

  /** Holds what a statement says about one of its keys. It drops the oldest rounds where that needs room. */
  hold(statement: Statement, key: Hex): void {
    const { kind, round } = statement;
    const ofRound = this.#rounds.get(round) ?? { report: new Map(), row: new Map(), size: 0 };
    if (ofRound[kind].has(key)) return;
    const size = ENTRY + key.length;
    for (const [oldest, dropped] of this.#rounds) {
      if (this.#size + size <= MAX_HELD || oldest === round) break;
      this.#rounds.delete(oldest);
      this.#size -= dropped.size;
    }
    if (this.#size + size > MAX_HELD) return;
    ofRound[kind].set(key, statement);
    ofRound.size += size;
    this.#size += size;
    this.#rounds.set(round, ofRound);
  }
}

const signerOf = (dataset: Dataset, provider: Address): SignerOf => `${dataset.address} ${provider}`;
