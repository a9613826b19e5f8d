import { type Clock, secondsOf } from "@dataset-oracle/service/process/context";
import type { Address, Hex } from "viem";
import type { Dataset } from "../../dataset/dataset.js";
import { contentOf, keysOf, type Statement } from "../../reports/statement.js";

/** The maximum size of one signer's statements on one dataset, in characters; above it the oldest are dropped. */
const MAX_HELD = 1024 * 1024;
/** The approximate size of an entry without its key. */
const ENTRY = 300;
/** How far a round may be in the future, in seconds, because the signer's clock is ahead. */
const MAX_AHEAD = 10n;

/** The proof that a provider signed two conflicting statements about one key and round. */
export interface Contradiction {
  readonly dataset: Dataset;
  readonly provider: Address;
  readonly key: Hex;
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly statements: readonly [Statement, Statement];
  /** In milliseconds, by the monotonic clock. */
  readonly foundAt: number;
}

type SignerOf = `${Address} ${Address}`;

/**
 * The statements of a network's committees that this operator has seen: the first of each signer, key and round. A
 * later one that conflicts with it proves that its signer has contradicted itself.
 */
export class HeldStatements {
  readonly #held = new Map<SignerOf, HeldOfSigner>();
  readonly #contradictions = new Map<SignerOf, Contradiction>();

  constructor(private readonly clock: Clock) {}

  /**
   * Holds a statement of a member of the dataset's committee, unless its round cannot be stored, or its signer has
   * contradicted itself, with this statement or earlier.
   */
  add(dataset: Dataset, statement: Statement): "held" | "old" | "contradicted" {
    const { provider, round } = statement;
    const signer = signerOf(dataset, provider);
    if (this.#contradictions.has(signer)) return "contradicted";
    const now = secondsOf(this.clock);
    const oldest = now - dataset.maxRoundAge + 1n;
    if (round > now + MAX_AHEAD || round < oldest) return "old";
    const held = this.#heldOf(dataset, signer);
    held.drop(oldest);
    for (const key of keysOf(statement)) {
      const first = held.hold(statement, key);
      if (contentOf(first, key) === contentOf(statement, key)) continue;
      const found = {
        dataset,
        provider,
        key,
        round,
        statements: [first, statement],
        foundAt: this.clock.monotonic(),
      } as const;
      this.#contradictions.set(signer, found);
      return "contradicted";
    }
    return "held";
  }

  /** Lists the proofs against members that have not been settled. */
  get contradictions(): readonly Contradiction[] {
    return [...this.#contradictions.values()];
  }

  /** Takes note that a signer has left the committee. If it comes back, its new statements count again. */
  settle({ dataset, provider }: Contradiction): void {
    this.#contradictions.delete(signerOf(dataset, provider));
    this.#held.delete(signerOf(dataset, provider));
  }

  #heldOf(dataset: Dataset, signer: SignerOf): HeldOfSigner {
    const known = this.#held.get(signer);
    if (known !== undefined) return known;
    // Former members' statements are dropped.
    const { members } = dataset.committee.current;
    for (const other of this.#held.keys()) {
      const [of, member] = other.split(" ") as [Address, Address];
      if (of === dataset.address && !members.includes(member)) this.#held.delete(other);
    }
    const created = new HeldOfSigner();
    this.#held.set(signer, created);
    return created;
  }
}

/** The statements of one signer on one dataset: of each round, the first about each key. */
class HeldOfSigner {
  /** In the order in which they came. */
  readonly #rounds = new Map<bigint, { readonly statements: Map<Hex, Statement>; size: number }>();
  #size = 0;

  /** Drops the statements about rounds before one. */
  drop(oldest: bigint): void {
    for (const [round, { size }] of this.#rounds) {
      if (round >= oldest) break;
      this.#rounds.delete(round);
      this.#size -= size;
    }
  }

  /**
   * Holds what a statement says about one of its keys, if it is the first. It drops the oldest rounds where that needs
   * room.
   *
   * @returns The first statement about the key at that round.
   */
  hold(statement: Statement, key: Hex): Statement {
    const ofRound = this.#rounds.get(statement.round) ?? { statements: new Map(), size: 0 };
    const first = ofRound.statements.get(key);
    if (first !== undefined) return first;
    const size = ENTRY + key.length;
    for (const [round, dropped] of this.#rounds) {
      if (this.#size + size <= MAX_HELD || round === statement.round) break;
      this.#rounds.delete(round);
      this.#size -= dropped.size;
    }
    if (this.#size + size > MAX_HELD) return statement;
    ofRound.statements.set(key, statement);
    ofRound.size += size;
    this.#size += size;
    this.#rounds.set(statement.round, ofRound);
    return statement;
  }
}

const signerOf = (dataset: Dataset, provider: Address): SignerOf => `${dataset.address} ${provider}`;
