import type { Address, Hex } from "viem";
import { simulateBlocks } from "viem/actions";
import type { Clock } from "../context.js";
import type { ChainClient } from "../rpc/client.js";
import { RpcError, rpcErrorIn } from "../rpc/rpc-error.js";
import { Batcher } from "./batcher.js";

/** How many updates share a simulated block. Their gas is far below a block's limit. */
const MAX_UPDATES = 16;

/** A call that succeeded: the data that it returned, and its gas. */
export interface Executed {
  readonly result: Hex;
  readonly gas: bigint;
}

interface SimulatedCall {
  readonly to: Address;
  readonly data: Hex;
}

interface Simulation {
  readonly call: SimulatedCall;
  readonly dataPointId: string | null;
  readonly resolve: (executed: Executed | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Executes calls in simulated blocks on top of the latest one (`eth_simulateV1`). Updates of different data points do
 * not affect each other, so those that come within a few milliseconds share a block, and with it a request.
 */
export class BlockSimulation {
  readonly #updates = new Batcher<Simulation>(MAX_UPDATES, (updates) => this.#simulateUpdates(updates));

  constructor(
    private readonly client: ChainClient,
    private readonly clock: Clock,
  ) {}

  /**
   * Executes a call.
   *
   * @param dataPointId Identifies the only data point that the call changes; null if it may change more.
   * @returns Null when the node cannot simulate blocks, or not this one.
   * @throws RpcError: `refused`, with the revert data, when the call reverts.
   */
  execute(to: Address, data: Hex, dataPointId: string | null): Promise<Executed | null> {
    return new Promise((resolve, reject) => {
      const simulation = { call: { to, data }, dataPointId, resolve, reject };
      if (dataPointId === null) void this.#simulate([simulation]);
      else this.#updates.add(simulation);
    });
  }

  async #simulateUpdates(updates: readonly Simulation[]): Promise<void> {
    // Of two updates of one data point, the second would find what the first stores.
    const ofDistinct = new Map(updates.map((update) => [update.dataPointId, update]));
    const others = updates.filter((update) => ofDistinct.get(update.dataPointId) !== update);
    const blocks = [[...ofDistinct.values()], ...others.map((update) => [update])];
    await Promise.all(blocks.map((block) => this.#simulate(block)));
  }

  async #simulate(simulations: readonly Simulation[]): Promise<void> {
    try {
      const results = await this.#simulateBlock(simulations.map(({ call }) => call));
      if (results === null && simulations.length > 1) {
        // The node may refuse the block for its size, or for one of the calls.
        await Promise.all(simulations.map((simulation) => this.#simulate([simulation])));
        return;
      }
      for (const [i, { resolve, reject }] of simulations.entries()) {
        const result = results?.[i] ?? null;
        if (result instanceof RpcError) reject(result);
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of simulations) reject(error);
    }
  }

  /**
   * Executes calls in one block.
   *
   * @returns For each call what it returned, its revert, or null where only `eth_call` tells why it failed; null when the
   * node cannot simulate the block.
   * @throws RpcError when the node does not answer.
   */
  async #simulateBlock(calls: readonly SimulatedCall[]): Promise<readonly (Executed | RpcError | null)[] | null> {
    // No round is newer than the clock's next second, and a block that was just made is older.
    const time = BigInt(Math.floor(this.clock() / 1000) + 1);
    const blocks = [{ blockOverrides: { time }, calls }];
    const simulated = await simulateBlocks(this.client, { blocks }).catch((error: unknown) => {
      const rpcError = rpcErrorIn(error);
      // An error that is not the transport's means that the node answered in another shape.
      if (rpcError === null || rpcError.kind === "refused") return null;
      throw rpcError;
    });
    const { id } = this.client.chain;
    const results = simulated?.[0]?.calls.map(({ status, data: result, gasUsed }) => {
      if (status === "success") return { result, gas: gasUsed };
      return result === "0x" ? null : new RpcError("refused", id, "eth_simulateV1", "the call reverted", result);
    });
    return results?.length === calls.length ? results : null;
  }
}
