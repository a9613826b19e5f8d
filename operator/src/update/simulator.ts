import type { Address, Hex } from "viem";
import { call, estimateGas, simulateBlocks } from "viem/actions";
import { type ChainClient, unwrapRpcError } from "../chain/client.js";
import { RpcError, rpcErrorIn } from "../chain/rpc-error.js";
import type { Clock } from "../clock.js";

/** A call that the next block would execute. */
export interface Executed {
  /** The data that it returns. */
  readonly result: Hex;
  /** The gas limit to send, with a quarter to spare: transactions before it can change the cost. */
  readonly gas: bigint;
}

/** How long a node's simulation is trusted after it has agreed with the node's gas estimate. */
const TRUSTED_MS = 600_000;

/**
 * Executes calls as the next block would. The latest block will not do, because it can be older than a round.
 *
 * Every node can execute a call on `pending`, and estimate its gas by executing it again and again. Many can simulate the
 * next block instead (`eth_simulateV1`), which takes one request and one execution. Some nodes cannot, and on some chains
 * a call needs more gas than the simulation uses, so it is trusted for a while only after it has agreed with an estimate.
 */
export class Simulator {
  #trustedUntil = 0;
  #nextTrialAt = 0;

  constructor(
    private readonly client: ChainClient,
    private readonly clock: Clock,
  ) {}

  /** @throws RpcError: `refused`, with the revert data, when the call reverts. */
  async run(to: Address, data: Hex): Promise<Executed> {
    const simulated = this.clock() < this.#trustedUntil ? await this.#simulate(to, data) : null;
    if (simulated !== null) return { ...simulated, gas: withSpare(simulated.gas) };
    this.#trustedUntil = 0;
    const { client } = this;
    const request = { to, data, blockTag: "pending" } as const;
    const [{ data: result = "0x" }, estimate] = await Promise.all([
      unwrapRpcError(client, "eth_call", call(client, request)),
      unwrapRpcError(client, "eth_estimateGas", estimateGas(client, { ...request, prepare: false })),
    ]);
    if (this.clock() >= this.#nextTrialAt) void this.#try(to, data, estimate);
    return { result, gas: withSpare(estimate) };
  }

  /** Finds out whether the node's simulation can be trusted. Nobody waits for it. */
  async #try(to: Address, data: Hex, estimate: bigint): Promise<void> {
    this.#nextTrialAt = this.clock() + TRUSTED_MS;
    const simulated = await this.#simulate(to, data).catch(() => null);
    // A gas refund can make the estimate up to a tenth larger.
    if (simulated === null || estimate * 10n > simulated.gas * 11n) return;
    this.#trustedUntil = this.clock() + TRUSTED_MS;
    this.#nextTrialAt = 0;
  }

  /**
   * @returns The gas that the call uses; null when the node cannot simulate blocks, or not this one.
   * @throws RpcError when the call reverts, or the node does not answer.
   */
  async #simulate(to: Address, data: Hex): Promise<Executed | null> {
    // No round is newer than the clock's next second, and a block that was just made is older.
    const time = BigInt(Math.floor(this.clock() / 1000) + 1);
    const blocks = [{ blockOverrides: { time }, calls: [{ to, data }] }];
    const simulated = await simulateBlocks(this.client, { blocks }).catch((error: unknown) => {
      const rpcError = rpcErrorIn(error);
      // An error that is not the transport's means that the node answered in another shape.
      if (rpcError === null || rpcError.kind === "refused") return null;
      throw rpcError;
    });
    const executed = simulated?.[0]?.calls[0];
    if (executed === undefined) return null;
    if (executed.status === "success") return { result: executed.data, gas: executed.gasUsed };
    const { id } = this.client.chain;
    throw new RpcError("refused", id, "eth_simulateV1", "the call reverted", executed.data);
  }
}

function withSpare(gas: bigint): bigint {
  return gas + gas / 4n;
}
