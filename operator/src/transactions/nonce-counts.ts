import { type Address, type Hex, hexToNumber } from "viem";
import type { Clock } from "../context.js";
import type { ChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { readNonce } from "../rpc/transactions.js";
import type { TransactionCounts } from "./plan.js";

type BlockTag = "latest" | "pending";

/** After refusals for this long, a single endpoint's count of mined transactions is believed, however far it jumped. */
const BELIEVED_AFTER_MS = 600_000;

/**
 * Reads a sender's transaction counts, and refuses those that its own transactions cannot explain. An endpoint that
 * counts too many would make the queue send behind a gap, which costs a cancellation for each nonce in it.
 */
export class CredibleNonceCounts {
  #mined: number | null = null;
  #refusedSince: number | null = null;

  /** @param maxJump How many transactions that this process did not send are credible at a time. */
  constructor(
    private readonly client: ChainClient,
    private readonly sender: Address,
    private readonly maxJump: number,
    private readonly clock: Clock,
  ) {}

  /**
   * @param end The first nonce after those that the queue has used.
   * @throws RpcError while no endpoint gives a credible answer.
   */
  async read(end: number): Promise<TransactionCounts> {
    const { client, sender } = this;
    let counts = await readBoth((blockTag) => readNonce(client, sender, blockTag));
    let fault = this.#faultOf(counts, end);
    if (fault !== null) {
      counts = await readBoth((blockTag) => this.#lowest(blockTag));
      fault = this.#faultOf(counts, end);
    }
    if (fault !== null) {
      this.#refusedSince ??= this.clock();
      throw new RpcError("failed", client.chain.id, "eth_getTransactionCount", fault);
    }
    this.#refusedSince = null;
    this.#mined = counts.mined;
    return counts;
  }

  #faultOf({ mined, pending }: TransactionCounts, end: number): string | null {
    const explained = Math.max(this.#mined ?? mined, end);
    const isBelieved = this.#refusedSince !== null && this.clock() - this.#refusedSince >= BELIEVED_AFTER_MS;
    if (mined > explained + this.maxJump && !isBelieved) {
      return `${mined} transactions of ${this.sender} are reported as mined, but only ${explained} are known`;
    }
    const known = Math.max(explained, mined);
    if (pending <= known + this.maxJump) return null;
    return `${pending} transactions of ${this.sender} are reported as mined or pending, but only ${known} are known`;
  }

  /** Returns the lowest count of all endpoints. */
  async #lowest(blockTag: BlockTag): Promise<number> {
    const answers = await this.client.requestEach("eth_getTransactionCount", [this.sender, blockTag]);
    return Math.min(...answers.map((answer) => hexToNumber(answer as Hex)));
  }
}

async function readBoth(read: (blockTag: BlockTag) => Promise<number>): Promise<TransactionCounts> {
  const [mined, pending] = await Promise.all([read("latest"), read("pending")]);
  return { mined, pending: Math.max(mined, pending) };
}
