import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import {
  type Address,
  concatHex,
  type Hex,
  hexToBytes,
  keccak256,
  parseTransaction,
  serializeTransaction,
  stringToHex,
} from "viem";
import type { Random } from "../random.js";
import { type DatasetModel, type Points, Reverted, type UpdatedEvent } from "./dataset-model.js";

/** The state after a block. It is never changed. */
export interface State {
  readonly points: Points;
  readonly nonces: ReadonlyMap<Address, number>;
  readonly balances: ReadonlyMap<Address, bigint>;
}

export interface MinedBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Null for the first block, and for one that is so old that nobody looks at what was before it. */
  parent: MinedBlock | null;
  /** In seconds since 1970. */
  readonly timestamp: number;
  readonly baseFee: bigint;
  readonly state: State;
  readonly receipts: readonly Receipt[];
}

export interface Receipt {
  readonly transaction: ChainTransaction;
  readonly outcome: "stored" | "useless" | "transfer" | "reverted" | "out of gas";
  readonly gasUsed: bigint;
  readonly events: readonly UpdatedEvent[];
  /** When it was mined, in milliseconds since 1970. */
  readonly minedAt: number;
}

export interface ChainTransaction {
  readonly hash: Hex;
  readonly signature: { readonly r: Hex; readonly s: Hex; readonly yParity: number };
  readonly from: Address;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** When block producers have it, in milliseconds since 1970. */
  readonly arrivesAt: number;
  /** Null for a transaction like any other; else no block producer takes it, and the pools show it or hide it. */
  readonly neverMined: "shown" | "hidden" | null;
}

/** A signed transaction that reached the nodes. */
export interface Arrival {
  readonly transaction: Pick<ChainTransaction, "from" | "nonce" | "hash" | "data">;
  /** The pooled one with its nonce, if there was one. */
  readonly before: ChainTransaction | undefined;
  /** Why it was not taken; null if it was. */
  readonly refusal: string | null;
  /** Whether the chain has used its nonce, in a block that the node that takes it may not have yet. */
  readonly isLate: boolean;
}

export interface ChainOptions {
  readonly chainId: number;
  readonly dataset: DatasetModel;
  readonly blockMs: number;
  /** In milliseconds since 1970. */
  readonly startMs: number;
  readonly random: Random;
  readonly trace: (...parts: readonly unknown[]) => void;
}

export const BLOCK_GAS_LIMIT = 30_000_000n;
const TARGET = BLOCK_GAS_LIMIT / 2n;
const FIRST_BASE_FEE = 10_000_000_000n;
const LEAST_BASE_FEE = 1_000_000_000n;
const TRANSFER_GAS = 21_000n;
/** The most that an operator offers, in wei per unit of gas: the defaults of its settings. */
const [MAX_FEE, MAX_TIP] = [500n * 10n ** 9n, 100n * 10n ** 9n];
/** Blocks before the first that the simulation makes, so that the chain has an age. */
const FORMER_BLOCKS = 100;
/** Older blocks are forgotten, with their receipts: at a block a second, after more than two outages in a row. */
const KEPT_BLOCKS = 1_000;

/** Why a node does not take a transaction: a JSON-RPC error. */
export type SubmissionRefusal = { readonly code: number; readonly message: string };

/** A chain of blocks with immutable states, and the transactions that wait for a block. */
export class Chain {
  head: MinedBlock;
  /** The transactions that nodes hold, by sender and nonce. */
  readonly pool = new Map<Address, Map<number, ChainTransaction>>();
  /** How full other people's transactions make the blocks, from 0 to 1. */
  demand = 0.5;
  /** The share of new transactions that are never mined. */
  neverMined = 0;
  /** Whether no new transaction is ever mined. */
  takesNothing = false;
  /** How many blocks are missed from now on. */
  missedBlocks = 0;
  /** The share of the waiting transactions that nodes forget at each block. */
  forgotten = 0;
  /** The key whose updates run out of gas, however much they have: none of it can be known before they are mined. */
  dearKeyHash: Hex | null = null;
  /** How often blocks were replaced by others. */
  reorganizations = 0;
  /** What reached the nodes since the last block. */
  arrivals: Arrival[] = [];
  /** The errors with which the dataset refused calls since the last block. */
  refusedCalls: string[] = [];
  readonly #seen = new Set<Hex>();
  #salt = 0;

  constructor(private readonly options: ChainOptions) {
    const { startMs, blockMs } = options;
    const state: State = { points: new Map(), nonces: new Map(), balances: new Map() };
    const timestamp = (blocks: number) => Math.floor((startMs - blocks * blockMs) / 1000);
    this.head = this.#block(null, timestamp(FORMER_BLOCKS), FIRST_BASE_FEE, state, []);
    for (let left = FORMER_BLOCKS - 1; left > 0; left--)
      this.head = this.#block(this.head, timestamp(left), FIRST_BASE_FEE, state, []);
  }

  get chainId(): number {
    return this.options.chainId;
  }

  get dataset(): DatasetModel {
    return this.options.dataset;
  }

  /** Sets the balance of an account from the next block on. It is no transaction, only a stroke of the world's pen. */
  setBalance(account: Address, balance: bigint): void {
    this.#changed.set(account, balance);
  }
  readonly #changed = new Map<Address, bigint>();
  /** The balances that were set last, and the numbers of the blocks that have them first. */
  readonly #set = new Map<Address, { readonly balance: bigint; readonly number: number }>();

  /** Ends whatever has raised the fees, from the next block on. */
  calmFees(): void {
    this.demand = 0.5;
    this.#areFeesCalm = true;
  }
  #areFeesCalm = false;

  #block(
    parent: MinedBlock | null,
    timestamp: number,
    baseFee: bigint,
    state: State,
    receipts: readonly Receipt[],
  ): MinedBlock {
    const number = parent === null ? 0 : parent.number + 1;
    return {
      number,
      hash: keccak256(stringToHex(`block ${number} ${this.#salt++}`)),
      parent,
      timestamp,
      baseFee,
      state,
      receipts,
    };
  }

  /** Makes the next block, unless it is missed. */
  mine(nowMs: number): void {
    if (this.missedBlocks > 0) {
      this.missedBlocks--;
      this.options.trace("block missed");
      return;
    }
    const { head } = this;
    const baseFee = this.#areFeesCalm ? FIRST_BASE_FEE : nextBaseFee(head, this.demand);
    this.#areFeesCalm = false;
    this.#forgetWaiting();
    const chosen: ChainTransaction[] = [];
    for (const [from, byNonce] of this.pool) {
      for (let nonce = nonceOf(head.state, from); ; nonce++) {
        const one = byNonce.get(nonce);
        if (one === undefined || !this.#isTaken(one) || one.arrivesAt > nowMs || one.maxFeePerGas < baseFee) break;
        chosen.push(one);
      }
    }
    this.#append(chosen, Math.floor(nowMs / 1000), baseFee, nowMs);
    const { number, hash, receipts } = this.head;
    this.options.trace("block", number, hash.slice(0, 10), receipts.length, baseFee / 1_000_000_000n);
    // High fees keep people away, so that they stay near the first one unless a fault raises them.
    const usual = 0.5 - 0.1 * Math.log(Number(baseFee) / Number(FIRST_BASE_FEE));
    this.demand += this.options.random.between(-0.05, 0.05) + (usual - this.demand) / 10;
    this.#forgetOld();
  }

  /** What nobody can replace any more, within an operator's caps, is taken once such faults have ended. */
  #isTaken({ neverMined, maxFeePerGas, maxPriorityFeePerGas }: ChainTransaction): boolean {
    if (neverMined === null || this.takesNothing || this.neverMined > 0) return neverMined === null;
    return !(raises(maxFeePerGas, MAX_FEE) && raises(maxPriorityFeePerGas, MAX_TIP));
  }

  #append(transactions: readonly ChainTransaction[], timestamp: number, baseFee: bigint, nowMs: number): void {
    const { head } = this;
    const balances = new Map([...head.state.balances, ...this.#changed]);
    for (const [account, balance] of this.#changed) this.#set.set(account, { balance, number: head.number + 1 });
    this.#changed.clear();
    const nonces = new Map(head.state.nonces);
    let { points } = head.state;
    const receipts = transactions.flatMap((transaction): Receipt[] => {
      const { from, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, hash } = transaction;
      const balance = balances.get(from) ?? 0n;
      // A pool holds transactions that their sender could pay when they came.
      if (balance < gas * maxFeePerGas) return [];
      const executed = this.#execute(points, transaction, timestamp);
      points = executed.points;
      nonces.set(from, nonce + 1);
      let price = baseFee + maxPriorityFeePerGas;
      if (price > maxFeePerGas) price = maxFeePerGas;
      balances.set(from, balance - executed.gasUsed * price);
      this.options.trace("mined", hash.slice(0, 10), from.slice(0, 8), nonce, executed.outcome);
      const { outcome, gasUsed, events } = executed;
      return [{ transaction, outcome, gasUsed, events, minedAt: nowMs }];
    });
    this.head = this.#block(head, timestamp, baseFee, { points, nonces, balances }, receipts);
    for (const { transaction } of receipts) {
      const byNonce = this.pool.get(transaction.from);
      for (const nonce of byNonce?.keys() ?? []) if (nonce <= transaction.nonce) byNonce?.delete(nonce);
    }
  }

  #execute(points: Points, { to, data, gas }: ChainTransaction, timestamp: number) {
    if (to !== this.dataset.address) return { points, outcome: "transfer", gasUsed: TRANSFER_GAS, events: [] } as const;
    try {
      const executed = this.dataset.execute(points, data, timestamp);
      const isDear = executed.events.some(({ keyHash }) => keyHash === this.dearKeyHash);
      if (executed.gasUsed > gas || isDear) return { points, outcome: "out of gas", gasUsed: gas, events: [] } as const;
      const outcome = executed.events.length > 0 ? "stored" : "useless";
      return { ...executed, outcome } as const;
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      return { points, outcome: "reverted", gasUsed: 40_000n < gas ? 40_000n : gas, events: [] } as const;
    }
  }

  /**
   * Replaces the newest blocks by empty ones. Their transactions go back to the pool, but for some that get lost.
   *
   * @param lost The share of these.
   */
  reorganize(depth: number, lost: number, nowMs: number): void {
    const { random, trace } = this.options;
    const removed: MinedBlock[] = [];
    let ancestor = this.head;
    for (; removed.length < depth && ancestor.parent !== null; ancestor = ancestor.parent) removed.unshift(ancestor);
    let count = 0;
    this.head = ancestor;
    for (const [account, { balance, number }] of this.#set)
      if (number > ancestor.number && !this.#changed.has(account)) this.#changed.set(account, balance);
    for (const { receipts, timestamp, baseFee } of removed) {
      for (const { transaction } of receipts) {
        const byNonce = this.#poolOf(transaction.from);
        if (random.chance(lost)) {
          count++;
          this.#seen.delete(transaction.hash);
        } else if (!byNonce.has(transaction.nonce)) byNonce.set(transaction.nonce, transaction);
      }
      this.#append([], timestamp, baseFee, nowMs);
    }
    trace("reorganized", depth, "lost", count);
    this.reorganizations++;
  }

  #forgetWaiting(): void {
    const { random, trace } = this.options;
    if (this.forgotten === 0) return;
    for (const byNonce of this.pool.values()) {
      for (const { nonce, hash } of [...byNonce.values()]) {
        if (!random.chance(this.forgotten)) continue;
        byNonce.delete(nonce);
        trace("forgotten", hash.slice(0, 10));
      }
    }
  }

  #forgetOld(): void {
    let block = this.head;
    for (let i = 0; i < KEPT_BLOCKS; i++) {
      if (block.parent === null) return;
      block = block.parent;
    }
    block.parent = null;
  }

  #poolOf(from: Address): Map<number, ChainTransaction> {
    const known = this.pool.get(from);
    if (known !== undefined) return known;
    const created = new Map<number, ChainTransaction>();
    this.pool.set(from, created);
    return created;
  }

  /**
   * Takes a signed transaction into the pool, as a node does whose newest block is `view`.
   *
   * @returns Its hash, or why the node refuses it.
   */
  submit(raw: Hex, view: MinedBlock, nowMs: number): Hex | SubmissionRefusal {
    const { random, trace } = this.options;
    const hash = keccak256(raw);
    const parsed = parseTransaction(raw);
    const { nonce = 0, data = "0x", gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parsed;
    const from = senderOf(raw, parsed);
    const next = nonceOf(view.state, from);
    const byNonce = this.#poolOf(from);
    const known = byNonce.get(nonce);
    const isLate = nonce < nonceOf(this.head.state, from);
    const arrive = (refusal: string | null) =>
      this.arrivals.push({ transaction: { from, nonce, hash, data }, before: known, refusal, isLate });
    const refuse = (message: string): SubmissionRefusal => {
      arrive(message);
      return { code: -32_000, message };
    };
    if (nonce < next) return refuse(`nonce too low: next nonce ${next}, tx nonce ${nonce}`);
    if (gas > BLOCK_GAS_LIMIT) return refuse("exceeds block gas limit");
    if (gas < TRANSFER_GAS) return refuse("intrinsic gas too low");
    if ((view.state.balances.get(from) ?? 0n) < gas * maxFeePerGas)
      return refuse(`insufficient funds for gas * price + value: address ${from}`);
    if (known?.hash === hash) return refuse("already known");
    const isShown = known !== undefined && known.neverMined !== "hidden";
    if (
      isShown &&
      !(raises(known.maxFeePerGas, maxFeePerGas) && raises(known.maxPriorityFeePerGas, maxPriorityFeePerGas))
    )
      return refuse("replacement transaction underpriced");
    arrive(null);
    if (isLate) return hash;
    const isNeverMined = !this.#seen.has(hash) && random.chance(this.takesNothing ? 1 : this.neverMined);
    this.#seen.add(hash);
    const neverMined = isNeverMined ? random.pick(["shown", "hidden"] as const) : null;
    if (neverMined !== null) trace("never mined", hash.slice(0, 10), neverMined);
    const to = (parsed.to ?? "0x") as Address;
    const isToDataset = to.toLowerCase() === this.dataset.address.toLowerCase();
    byNonce.set(nonce, {
      ...{
        hash,
        signature: signatureIn(parsed),
        from,
        nonce,
        to: isToDataset ? this.dataset.address : to,
        data,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
      },
      arrivesAt: nowMs + random.between(50, 700),
      neverMined,
    });
    return hash;
  }

  /** The transactions of a sender that nodes show as pending, by nonce. */
  shownOf(from: Address, view: MinedBlock): readonly ChainTransaction[] {
    const first = nonceOf(view.state, from);
    const all = [...(this.pool.get(from)?.values() ?? [])];
    return all
      .filter(({ nonce, neverMined }) => nonce >= first && neverMined !== "hidden")
      .sort((a, b) => a.nonce - b.nonce);
  }

  /** The first nonce that neither `view` nor the pool, without a gap, has used. */
  pendingNonce(from: Address, view: MinedBlock): number {
    let next = nonceOf(view.state, from);
    for (const { nonce } of this.shownOf(from, view)) if (nonce === next) next++;
    return next;
  }

  /** The points as they would be if all that is pending were mined now. */
  pendingPoints(view: MinedBlock, timestamp: number): Points {
    let { points } = view.state;
    for (const from of this.pool.keys()) {
      let next = nonceOf(view.state, from);
      for (const transaction of this.shownOf(from, view)) {
        if (transaction.nonce !== next++) break;
        points = this.#execute(points, transaction, timestamp).points;
      }
    }
    return points;
  }

  /** Finds the block of a number on the way back from `view`. */
  find(view: MinedBlock, number: number): MinedBlock | null {
    let block: MinedBlock | null = view;
    while (block !== null && block.number > number) block = block.parent;
    return block?.number === number ? block : null;
  }

  /** Finds where a transaction was mined, as `view` has it. */
  findReceipt(view: MinedBlock, hash: Hex): { readonly block: MinedBlock; readonly receipt: Receipt } | null {
    for (let block: MinedBlock | null = view; block !== null; block = block.parent) {
      const receipt = block.receipts.find(({ transaction }) => transaction.hash === hash);
      if (receipt !== undefined) return { block, receipt };
    }
    return null;
  }
}

/** Reports whether nodes take a replacement that offers so much: a tenth more. */
const raises = (before: bigint, offered: bigint) => offered * 10n >= before * 11n;

export const nonceOf = ({ nonces }: State, from: Address): number => nonces.get(from) ?? 0;

/** EIP-1559: the fee moves by at most an eighth, in proportion to how far the last block was from its target. */
export function nextBaseFee({ baseFee, receipts }: MinedBlock, demand: number): bigint {
  const own = receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  const foreign = (BLOCK_GAS_LIMIT * BigInt(Math.round(demand * 1_000))) / 1_000n;
  const used = own + foreign > BLOCK_GAS_LIMIT ? BLOCK_GAS_LIMIT : own + foreign;
  const next = baseFee + (baseFee * (used - TARGET)) / TARGET / 8n;
  return next < LEAST_BASE_FEE ? LEAST_BASE_FEE : next;
}

const senders = new Map<Hex, Address>();

type Parsed = ReturnType<typeof parseTransaction>;

const signatureIn = ({ r = "0x", s = "0x", yParity = 0 }: Parsed) => ({ r, s, yParity });

function senderOf(raw: Hex, parsed: Parsed): Address {
  const known = senders.get(raw);
  if (known !== undefined) return known;
  const { r: _r, s: _s, yParity: _y, v: _v, ...unsigned } = parsed;
  const { r, s, yParity } = signatureIn(parsed);
  const digest = keccak(hexToBytes(serializeTransaction(unsigned as never)));
  const signature = concatHex([r, s, yParity === 0 ? "0x1b" : "0x1c"]);
  const sender = recoverSignerSync(digest, signature);
  if (sender === null) throw new Error(`The operator sent a transaction without a valid signature: ${raw}`);
  if (senders.size > 1_000) senders.clear();
  senders.set(raw, sender);
  return sender;
}
