import type { UpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { type Address, type Hex, keccak256 } from "viem";
import type { Nodes } from "./node-list.js";
import type { SignedTransaction } from "./signed-transaction.js";

/** The maximum number of transactions of one node that are held, and of their characters. */
const MAX_HELD = 16;
const MAX_HELD_CHARACTERS = 4 * 1024 * 1024;

/** The maximum number of transactions that are listed for one key. */
const MAX_LISTED = 4;

/** A transaction of a node, without its calldata, which `raw` contains. */
export type HeldTransaction = Pick<SignedTransaction, "raw" | "hash" | "sender" | "nonce">;

/** This node's own transaction, or another's that the chain would have accepted when it arrived. */
interface Held extends HeldTransaction {
  /**
   * Null for one that stores nothing, and only has to be mined before later ones of its sender: a cancellation, or a
   * stale update.
   */
  readonly update: { readonly dataset: Address; readonly keyHashes: ReadonlySet<Hex>; readonly round: bigint } | null;
}

/** The signed transactions that the nodes of a network, this one included, share with each other. */
export class HeldTransactions {
  /** Oldest first; by submitter. */
  readonly #held = new Map<Address, readonly Held[]>();

  constructor(private readonly nodes: Nodes) {}

  /** Returns true if a transaction with this hash is held. If so, the statements in its calldata have been read already. */
  hasHash(hash: Hex): boolean {
    return [...this.#held.values()].some((held) => held.some((one) => one.hash === hash));
  }

  /**
   * Holds a transaction, in place of one that it replaces: only one with a given nonce can be mined.
   *
   * @param call Null if it stores nothing.
   */
  add({ raw, hash, sender, nonce, to: dataset }: SignedTransaction, call: UpdateCall | null): void {
    const others = (this.#held.get(sender) ?? []).filter((one) => one.nonce !== nonce);
    const update = call && { dataset, keyHashes: keyHashesOf(call), round: call.round };
    const held = [...others, { raw, hash, sender, nonce, update }];
    let characters = held.reduce((sum, one) => sum + one.raw.length, 0);
    while (held.length > MAX_HELD || characters > MAX_HELD_CHARACTERS) characters -= held.shift()?.raw.length ?? 0;
    this.#held.set(sender, held);
  }

  /** Lists the transactions, own ones included, that update a key at this round or a newer one; the newest first. */
  list(dataset: Address, key: Hex, round: bigint): readonly HeldTransaction[] {
    return this.#updatesOf(dataset, [key], round).slice(0, MAX_LISTED);
  }

  /**
   * Finds the newest transaction of another node that updates all of these keys, of this round or a newer one.
   *
   * @param ignored The hashes of transactions that are not wanted.
   */
  find(
    dataset: Address,
    keys: readonly Hex[],
    round: bigint,
    ignored: ReadonlyMap<Hex, unknown> = new Map(),
  ): HeldTransaction | null {
    const { all, own } = this.nodes;
    const listed = new Set(all.map(({ submitter }) => submitter));
    for (const submitter of this.#held.keys()) if (!listed.has(submitter)) this.#held.delete(submitter);
    const updates = this.#updatesOf(dataset, keys, round);
    return updates.find(({ hash, sender }) => sender !== own?.submitter && !ignored.has(hash)) ?? null;
  }

  /** Lists the transactions that update all of these keys, of this round or a newer one; the newest first. */
  #updatesOf(dataset: Address, keys: readonly Hex[], round: bigint): readonly HeldTransaction[] {
    const hashes = keys.map((key) => keccak256(key));
    return [...this.#held.values()]
      .flat()
      .flatMap(({ update, ...transaction }) => (update === null ? [] : { ...transaction, ...update }))
      .filter((one) => one.dataset === dataset && one.round >= round && hashes.every((hash) => one.keyHashes.has(hash)))
      .toSorted((a, b) => Number(b.round - a.round));
  }

  /** Lists the transactions of a sender, in the order of their nonces. */
  by(sender: Address): readonly HeldTransaction[] {
    return (this.#held.get(sender) ?? []).toSorted((a, b) => a.nonce - b.nonce);
  }
}

const keyHashesOf = (call: UpdateCall): ReadonlySet<Hex> =>
  new Set(call.kind === "batch" ? call.keyHashes : [keccak256(call.key)]);
