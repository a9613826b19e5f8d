import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type Address, type Hex, hexToBigInt, hexToNumber, numberToHex } from "viem";
import { Data, Quantity, type Rpc, requestAs, requestQuantity } from "../chain/rpc.js";
import { RpcError } from "../chain/rpc-error.js";
import type { Clock } from "../clock.js";

/** A call that the next block would relay out. */
export interface Executed {
  /** What it returns. */
  readonly result: Hex;
  /** The gas to send, with a quarter to spare: what another transaction stores before it can change the cost. */
  readonly gas: bigint;
}

/** How long a node's simulation is believed, once it has agreed with its estimate. */
const BELIEVED_MS = 600_000;

const SimulatedCall = Type.Object({ returnData: Data, gasUsed: Quantity, status: Quantity });
const simulatedBlocks = TypeCompiler.Compile(Type.Tuple([Type.Object({ calls: Type.Tuple([SimulatedCall]) })]));

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/**
 * Runs calls as the next block would: never plainly on the latest block, which can be older than a round.
 *
 * Every node can run a call on `pending`, and estimate its gas by running it again and again. Many can simulate the next
 * block instead (`eth_simulateV1`): one run, and one request, for both. On some chains that gas is not all that is
 * needed, and some nodes cannot: it is believed for a while after it has agreed with an estimate.
 */
export class Simulator {
  #believedUntil = 0;
  #nextTrialAt = 0;

  constructor(
    private readonly rpc: Rpc,
    private readonly clock: Clock,
  ) {}

  /** @throws RpcError: `refused`, with what the call reverted with, when the next block would refuse it. */
  async run(to: Address, data: Hex): Promise<Executed> {
    const call = { to, data };
    const simulated = this.clock() < this.#believedUntil ? await this.#simulate(call) : null;
    if (simulated !== null) return { result: simulated.result, gas: withSpare(simulated.gas) };
    this.#believedUntil = 0;
    const [result, estimate] = await Promise.all([
      requestAs(this.rpc, Data, "eth_call", [call, "pending"]),
      requestQuantity(this.rpc, "eth_estimateGas", [call, "pending"]),
    ]);
    if (this.clock() >= this.#nextTrialAt) void this.#try(call, estimate);
    return { result, gas: withSpare(estimate) };
  }

  /** Learns whether the nodes' simulation can be believed. Nobody waits for it. */
  async #try(call: Call, estimate: bigint): Promise<void> {
    this.#nextTrialAt = this.clock() + BELIEVED_MS;
    const simulated = await this.#simulate(call).catch(() => null);
    // A tenth more is what a refund hides.
    if (simulated === null || estimate * 10n > simulated.gas * 11n) return;
    this.#believedUntil = this.clock() + BELIEVED_MS;
    this.#nextTrialAt = 0;
  }

  /**
   * @returns The gas that the call uses; null when the node simulates no blocks, or not this one.
   * @throws RpcError when the call reverts, or the node does not answer.
   */
  async #simulate(call: Call): Promise<{ readonly result: Hex; readonly gas: bigint } | null> {
    // The clock's next second: no round is newer, and a block that was just made is older.
    const time = numberToHex(Math.floor(this.clock() / 1000) + 1);
    const block = { blockOverrides: { time }, calls: [call] };
    const blocks = await this.rpc
      .request("eth_simulateV1", [{ blockStateCalls: [block] }, "latest"])
      .catch((error: unknown) => {
        if (error instanceof RpcError && error.kind === "refused") return null;
        throw error;
      });
    if (!simulatedBlocks.Check(blocks)) return null;
    const [{ calls }] = blocks;
    const { returnData, gasUsed, status } = calls[0];
    if (hexToNumber(status) === 1) return { result: returnData, gas: hexToBigInt(gasUsed) };
    throw new RpcError("refused", this.rpc.chainId, "eth_simulateV1", "the call reverted", returnData);
  }
}

function withSpare(gas: bigint): bigint {
  return gas + gas / 4n;
}
