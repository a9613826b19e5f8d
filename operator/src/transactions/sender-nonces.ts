import { keccak } from "@dataset-oracle/service/crypto/keccak";
import type { Context } from "@dataset-oracle/service/process/context";
import { type Address, bytesToHex, getAddress, type Hex, hexToBytes, hexToNumber, type Transaction } from "viem";
import type { ChainClient } from "../rpc/client.js";
import { lowerMedian } from "../rpc/lower-median.js";
import { RpcError, readPending } from "../rpc/rpc-error.js";
import { readPooledTransactions, readSigned } from "../rpc/transactions.js";
import type { Fees } from "./fees.js";
import type { TransactionCounts } from "./plan.js";
import type { ContractCall } from "./task.js";

/** After refusals for this long, a count of mined transactions is believed, however far it jumped. */
const BELIEVED_AFTER_MS = 600_000;
/** How much longer a transaction is waited for that the node counts, and its pool does not show: the count may be false. */
const DOUBTFUL_MS = 600_000;

/** The most transactions of one account that nodes keep behind a gap, by geth's default. Each may take a call to find. */
const MAX_HIDDEN = 64;

/** A pending transaction that the node's pool shows in full, and that the sender has signed. */
export interface PooledUpdate {
  readonly nonce: number;
  readonly raw: Hex;
  readonly hash: Hex;
  readonly call: ContractCall;
  readonly fees: Fees;
}

export interface NonceSettings {
  readonly pollMs: number;
  /** How many transactions that this process did not send are credible at a time. */
  readonly maxPending: number;
}

/** A sender's nonces, as the chain and the node's pool show them; those of transactions that this process did not send, too. */
export class SenderNonces {
  /** The count of mined transactions that was read last; null before the first. */
  #mined: number | null = null;
  #refusedSince: number | null = null;
  /** Whether there can be foreign transactions behind a gap, which the counts omit. */
  #canHideSome = true;
  readonly #foreignSince = new Map<number, number>();
  /** The nonces with transactions of the sender that the pool showed; null where the node does not show its pool. */
  #shown: ReadonlySet<number> | null = null;
  #poolReadAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly client: ChainClient,
    private readonly sender: Address,
    private readonly context: Pick<Context, "clock" | "logger">,
    private readonly settings: NonceSettings,
  ) {}

  /**
   * Reads the sender's transaction counts, at every endpoint where those of one are new or doubtful, and refuses those that
   * its own transactions cannot explain. An endpoint that counts too many would make the queue send behind a gap, which
   * costs a cancellation for each nonce in it; one that counts too few, with nonces that are used.
   *
   * @param end The first nonce after those that the queue has used.
   * @param start The first nonce that a reorganization can free.
   * @throws RpcError while the endpoints give no credible answer.
   */
  async readCounts(end: number, start: number): Promise<TransactionCounts> {
    let counts = await this.#readCounts();
    const isDoubtful = this.#mined === null || counts.mined < this.#mined || this.#faultOf(counts, end, start) !== null;
    if (isDoubtful)
      counts = await this.#readCounts(Math.max(this.#mined ?? counts.mined, end) + this.settings.maxPending);
    const fault = this.#faultOf(counts, end, start);
    if (fault !== null) {
      this.#refusedSince ??= this.context.clock.monotonic();
      throw new RpcError("failed", this.client.chain.id, "eth_getTransactionCount", fault);
    }
    this.#refusedSince = null;
    // At the start, and after a reorganization has freed nonces.
    this.#canHideSome ||= counts.mined < (this.#mined ?? 0);
    this.#mined = counts.mined;
    return counts;
  }

  /** @param most Given to ask each endpoint: of two that differ, the higher count is believed up to this. */
  async #readCounts(most?: number): Promise<TransactionCounts> {
    const { client, sender: address } = this;
    const read = async (blockTag: "latest" | "pending"): Promise<number> => {
      if (most !== undefined) {
        const answers = await client.requestEach("eth_getTransactionCount", [address, blockTag]);
        const counts = answers.map((answer) => hexToNumber(answer as Hex));
        const highest = Math.max(...counts);
        return counts.length === 2 && highest <= most ? highest : (lowerMedian(counts) ?? 0);
      }
      return hexToNumber(await client.ask<Hex>("eth_getTransactionCount", [address, blockTag]));
    };
    // Without the pending count, the queue's own transactions still are in its plan.
    const [mined, pending] = await Promise.all([read("latest"), readPending(read)]);
    return { mined, pending: Math.max(mined, pending) };
  }

  /** The number of pending transactions that this process did not send. */
  get foreignCount(): number {
    return this.#foreignSince.size;
  }

  /**
   * When each of them was first seen pending, by nonce and the monotonic clock; ten minutes later for one that the
   * node's pool does not show.
   */
  get stuckSince(): ReadonlyMap<number, number> {
    const isDoubtful = (nonce: number) => this.#shown !== null && !this.#shown.has(nonce);
    return new Map([...this.#foreignSince].map(([nonce, at]) => [nonce, isDoubtful(nonce) ? at + DOUBTFUL_MS : at]));
  }

  /** Called when the queue has taken over this nonce. */
  forget(nonce: number): void {
    this.#foreignSince.delete(nonce);
  }

  /**
   * Looks for transactions that this process did not send.
   *
   * @param isOwn Reports whether it has sent a transaction with a nonce.
   * @returns Those that the node's pool shows and the sender has signed, so that they can be recovered.
   */
  async findForeign(
    { mined, pending }: TransactionCounts,
    isOwn: (nonce: number) => boolean,
  ): Promise<readonly PooledUpdate[]> {
    const now = this.context.clock.monotonic();
    for (const nonce of this.#foreignSince.keys()) {
      if (nonce < mined || nonce >= pending || isOwn(nonce)) this.#foreignSince.delete(nonce);
    }
    for (let nonce = mined; nonce < pending; nonce++) {
      if (isOwn(nonce) || this.#foreignSince.has(nonce)) continue;
      this.#foreignSince.set(nonce, now);
      this.context.logger.warn({ nonce }, "a pending transaction was not sent by this process");
    }
    if (!this.#canHideSome && (this.#foreignSince.size === 0 || now - this.#poolReadAt < this.settings.pollMs))
      return [];
    const mayBeHidden = this.#canHideSome ? Math.min(this.settings.maxPending, MAX_HIDDEN) : 0;
    const hidden = Array.from({ length: mayBeHidden }, (_, i) => pending + i);
    this.#canHideSome = false;
    this.#poolReadAt = now;
    const nonces = [...this.#foreignSince.keys(), ...hidden].filter((nonce) => !isOwn(nonce));
    const pool = await readPooledTransactions(this.client, this.sender, nonces);
    const signed = (pool ?? []).flatMap((shown) => {
      const raw = readSigned(this.client.chain.id, this.sender, shown);
      return raw === null ? [] : [{ shown, raw }];
    });
    this.#shown = pool && new Set(signed.map(({ shown }) => shown.nonce));
    return signed.flatMap(({ shown, raw }) => toPooledUpdate(shown, raw)).filter(({ nonce }) => !isOwn(nonce));
  }

  #faultOf({ mined, pending }: TransactionCounts, end: number, start: number): string | null {
    const explained = Math.max(this.#mined ?? mined, end);
    const isBelieved =
      this.#refusedSince !== null && this.context.clock.monotonic() - this.#refusedSince >= BELIEVED_AFTER_MS;
    if (mined > explained + this.settings.maxPending && !isBelieved) {
      return `${mined} transactions of ${this.sender} are reported as mined, but only ${explained} are known`;
    }
    if (mined < Math.min(this.#mined ?? mined, start) - this.settings.maxPending && !isBelieved) {
      return `${mined} transactions of ${this.sender} are reported as mined, but ${this.#mined} were known`;
    }
    const known = Math.max(explained, mined);
    if (pending <= known + this.settings.maxPending) return null;
    return `${pending} transactions of ${this.sender} are reported as mined or pending, but only ${known} are known`;
  }
}

/** Returns nothing for a transaction that creates a contract. */
function toPooledUpdate({ nonce, to, input, gas, ...prices }: Transaction, raw: Hex): PooledUpdate[] {
  if (!to) return [];
  const type = prices.maxFeePerGas === undefined ? "legacy" : "eip1559";
  const { maxFeePerGas = prices.gasPrice ?? 0n, maxPriorityFeePerGas = 0n } = prices;
  const hash = bytesToHex(keccak(hexToBytes(raw)));
  const call = { to: getAddress(to), data: input, gas };
  return [{ nonce, raw, hash, call, fees: { type, maxFeePerGas, maxPriorityFeePerGas } }];
}
