import { setTimeout as delay } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { type Address, type Hex, keccak256, type LocalAccount } from "viem";
import type { Clock } from "../clock.js";
import { outOfFunds } from "../problems.js";
import type { Progress } from "../progress.js";
import { readFees } from "./fees.js";
import { classifyRejection } from "./rejection.js";
import { Bytes32, type Rpc, RpcError, requestAs, requestQuantity } from "./rpc.js";

/** A transaction without what the lane adds: nonce, fees, signature. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

/** The RPC was given a transaction and did not say what became of it: it may be mined. */
export class OutcomeUnknown extends Error {
  constructor(readonly reason: unknown) {
    super("It is not known whether the RPC has accepted the transaction.");
    this.name = "OutcomeUnknown";
  }
}

const FoundTransaction = Type.Union([Type.Null(), Type.Object({ hash: Bytes32 })]);

const ATTEMPTS = 3;
const RETRY_MS = 200;
/** A call that has waited longer for its turn is given up: its round is getting old. */
const MAX_QUEUE_MS = 30_000;

/**
 * One sender on one network. Calls are sent strictly one after the other, each with the nonce that the chain names
 * then: the lane keeps no count of its own that could drift from it.
 */
export class Lane {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly rpc: Rpc,
    private readonly account: LocalAccount,
    private readonly clock: Clock,
    /** In wei. */
    private readonly maxFeePerGas: bigint,
  ) {}

  get address(): Address {
    return this.account.address;
  }

  /**
   * @returns The transaction's hash, once the RPC has accepted it.
   * @throws OutcomeUnknown when it may be mined all the same. Any other error says that nothing is on its way: RpcError,
   * or a problem when the account cannot pay or the fees are too high.
   */
  send(call: Call, progress: Progress): Promise<Hex> {
    const giveUpAt = this.clock() + MAX_QUEUE_MS;
    const turn = this.#last.then(() => {
      if (this.clock() > giveUpAt) {
        throw new RpcError("timeout", this.rpc.chainId, "eth_sendRawTransaction", "waited too long for its turn");
      }
      return this.#sendInTurn(call, progress);
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #sendInTurn(call: Call, progress: Progress): Promise<Hex> {
    for (let attempt = 1; ; attempt++) {
      const { raw, hash } = await this.#sign(call);
      progress.emit({ event: "signed", data: { transaction_hash: hash } });
      const outcome = await this.#submit(raw, hash);
      if (outcome === "accepted") {
        progress.emit({ event: "sent", data: { transaction_hash: hash } });
        return hash;
      }
      // A node behind a load balancer can name a nonce that another has already seen used.
      if (attempt === ATTEMPTS) throw outcome;
      await delay(RETRY_MS);
    }
  }

  async #sign({ to, data, gas }: Call): Promise<{ raw: Hex; hash: Hex }> {
    const [nonce, fees] = await Promise.all([
      requestQuantity(this.rpc, "eth_getTransactionCount", [this.account.address, "pending"]),
      readFees(this.rpc, this.maxFeePerGas),
    ]);
    const { chainId } = this.rpc;
    const transaction = { chainId, nonce: Number(nonce), to, data, gas, value: 0n };
    const raw = await this.account.signTransaction({ ...transaction, ...fees });
    return { raw, hash: keccak256(raw) };
  }

  /** @returns `accepted`, or the error after which another nonce may help. Throws what no other nonce helps. */
  async #submit(raw: Hex, hash: Hex): Promise<"accepted" | RpcError> {
    try {
      await requestAs(this.rpc, Bytes32, "eth_sendRawTransaction", [raw]);
      return "accepted";
    } catch (error) {
      // Without a usable answer it may have been accepted all the same: the node knows.
      if (!(error instanceof RpcError) || error.failure !== "refused") {
        const found = requestAs(this.rpc, FoundTransaction, "eth_getTransactionByHash", [hash]);
        const isFound = await found.then(
          (transaction) => transaction !== null,
          () => false,
        );
        if (isFound) return "accepted";
        throw new OutcomeUnknown(error);
      }
      const rejection = classifyRejection(error.reason);
      if (rejection === "already_known") return "accepted";
      if (rejection === "out_of_funds") throw outOfFunds(this.rpc.chainId);
      if (rejection === "nonce_taken") return error;
      throw error;
    }
  }
}
