import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/query-status";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { type Context, secondsOf, wait } from "@dataset-oracle/service/process/context";
import {
  type Address,
  decodeErrorResult,
  decodeFunctionResult,
  type Hex,
  hexToBigInt,
  hexToNumber,
  numberToHex,
} from "viem";
import { UpdateReverted } from "../dataset/contract.js";
import { MAX_BLOCK_INTERVAL_MS } from "../rpc/blocks.js";
import type { ChainClient } from "../rpc/client.js";
import { firstOffered, RpcError } from "../rpc/rpc-error.js";

/** Of the contract's `KeyOutcome`. */
const [STORED, STALE_ROUND] = [0, 2];
/** How long a node's simulation is trusted after it has agreed with the node's gas estimate. */
const TRUSTED_MS = 600_000;
/** How often a block is looked for that is not behind an update's round. */
const LOOK_MS = 1_000;

/** The update would change nothing: the chain has its round or a newer one, or is about to. */
export interface StaleRound {
  readonly kind: "stale";
}

/** The state that a call is executed on, where the node has it. */
export type CallState = "pending" | "latest";

/** A call that succeeded: the data that it returned, and its gas. */
interface Executed {
  readonly result: Hex;
  readonly gas: bigint;
}

/** What a node shows of a simulated block with one call, as far as it is used and checked. */
type ShownSimulation = readonly [{ readonly calls: readonly [SimulatedCall] }];
type SimulatedCall = Readonly<Record<"status" | "returnData" | "gasUsed", Hex>> & {
  readonly error?: { readonly data?: Hex | null } | null;
};

/**
 * Executes updates as the next block would. The latest block alone will not do, because it can be older than a round.
 *
 * Most nodes can execute a call on `pending`, and estimate its gas by executing it again and again. Many can simulate
 * the next block instead (`eth_simulateV1`), which takes one request and one execution. Some nodes cannot, and on some
 * chains a call needs more gas than the simulation uses, so a simulation is trusted only after one has agreed with an
 * estimate, and only for a while. Where there is no `pending`, the latest block's time is replaced; and where that is not
 * offered either, the latest block is waited for that has reached the round.
 */
export class DryRun {
  #trustedUntil = 0;
  #nextTrialAt = 0;

  constructor(
    private readonly client: ChainClient,
    private readonly context: Pick<Context, "clock" | "closing">,
  ) {}

  /**
   * Executes an update. It returns the status that would be stored and the gas limit to send.
   *
   * @throws UpdateReverted. RpcError.
   */
  async update(
    dataset: Address,
    outcome: Outcome,
    data: Hex,
    state: CallState = "pending",
  ): Promise<{ readonly kind: "ok"; readonly status: QueryStatus; readonly gas: bigint } | StaleRound> {
    const read = (result: Hex) => this.#decode(() => decodeUpdate(outcome, result));
    const { result, gas } = await this.#executeDue(dataset, data, state, (pending) => !read(pending)[1]);
    const [status, isNew] = read(result);
    return isNew ? { kind: "ok", status: QUERY_STATUSES[status] ?? "INVALID", gas } : { kind: "stale" };
  }

  /**
   * Executes the update of a batch. It returns which keys, in the batch's order, would be stored, which would be refused
   * although no newer round is stored, and the gas limit to send.
   *
   * @throws UpdateReverted. RpcError.
   */
  async batch(
    dataset: Address,
    data: Hex,
    state: CallState = "pending",
  ): Promise<{ readonly isStored: readonly boolean[]; readonly isRefused: readonly boolean[]; readonly gas: bigint }> {
    const read = (result: Hex) =>
      this.#decode(() => decodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", data: result }));
    const isUseless = (pending: Hex) => read(pending).some((outcome) => outcome !== STORED);
    const { result, gas } = await this.#executeDue(dataset, data, state, isUseless);
    const outcomes = read(result);
    const isStored = outcomes.map((outcome) => outcome === STORED);
    return { isStored, isRefused: outcomes.map((one) => one !== STORED && one !== STALE_ROUND), gas };
  }

  /**
   * Executes an update. If the node's clock has not reached the round yet, it waits until it has, within a bound.
   *
   * @throws UpdateReverted. RpcError.
   */
  async #executeDue(
    dataset: Address,
    data: Hex,
    state: CallState,
    isUseless: (result: Hex) => boolean,
  ): Promise<Executed> {
    const giveUpAt = this.context.clock.monotonic() + MAX_BLOCK_INTERVAL_MS;
    for (;;) {
      try {
        return await this.call(dataset, data, state, isUseless);
      } catch (error) {
        const behindMs = msBehindRound(error);
        if (behindMs === 0 || this.context.clock.monotonic() + behindMs > giveUpAt) throw refusalIn(error);
        // A simulated block has the operator's time, so it does not show that the node would still refuse the round.
        this.#nextTrialAt = this.context.clock.monotonic() + TRUSTED_MS;
        await wait(Math.min(behindMs, LOOK_MS), this.context.closing);
        if (this.context.closing.aborted) throw refusalIn(error);
      }
    }
  }

  /**
   * Executes a call. The gas that it returns has a quarter to spare: transactions before it can change the cost.
   *
   * @param isUseless Reports whether a call with this result need not be sent.
   * @throws RpcError: `refused`, with the revert data, when the call reverts.
   */
  async call(
    to: Address,
    data: Hex,
    state: CallState = "pending",
    isUseless = (_result: Hex) => false,
  ): Promise<Executed> {
    const simulated = this.context.clock.monotonic() < this.#trustedUntil ? await this.#simulate(to, data) : null;
    if (simulated !== null) return { ...simulated, gas: withSpare(simulated.gas) };
    this.#trustedUntil = 0;
    const onLatest = () =>
      firstOffered(
        () => this.#executeAt("latest", to, data, [{}, { time: numberToHex(this.#newerThanRounds()) }]),
        () => this.#executeAt("latest", to, data),
      );
    const onPending = () => this.#executeAt("pending", to, data);
    const first = await (state === "pending" ? firstOffered(onPending, onLatest) : onLatest());
    // What is pending already may never be mined, so only what the chain has stored makes an update useless.
    const { result, gas: estimate } = state === "pending" && isUseless(first.result) ? await onLatest() : first;
    if (this.context.clock.monotonic() >= this.#nextTrialAt) void this.#try(to, data, estimate);
    return { result, gas: withSpare(estimate) };
  }

  /** @param overrides Of the state and the block, for nodes that take them. */
  async #executeAt(
    blockTag: "pending" | "latest",
    to: Address,
    data: Hex,
    overrides: readonly object[] = [],
  ): Promise<Executed> {
    const { client } = this;
    const params = [{ to, data }, blockTag, ...overrides];
    const [result, gas] = await Promise.all([
      client.ask<Hex>("eth_call", params),
      client.ask<Hex>("eth_estimateGas", params),
    ]);
    return { result, gas: hexToBigInt(gas) };
  }

  /** Returns a block time: no round is newer than the clock's next second, and a block that was just made is older. */
  #newerThanRounds(): bigint {
    return secondsOf(this.context.clock) + 1n;
  }

  /** Finds out whether the node's simulation can be trusted. Nobody waits for it. */
  async #try(to: Address, data: Hex, estimate: bigint): Promise<void> {
    this.#nextTrialAt = this.context.clock.monotonic() + TRUSTED_MS;
    const simulated = await this.#simulate(to, data).catch(() => null);
    // A gas refund can make the estimate up to a tenth larger.
    if (simulated === null || estimate * 10n > simulated.gas * 11n) return;
    this.#trustedUntil = this.context.clock.monotonic() + TRUSTED_MS;
    this.#nextTrialAt = 0;
  }

  /**
   * Executes a call in a simulated block on top of the latest one (`eth_simulateV1`).
   *
   * @returns Null when the node cannot simulate the block, or only `eth_call` tells why the call failed.
   * @throws RpcError: `refused`, with the revert data, when the call reverts.
   */
  async #simulate(to: Address, data: Hex): Promise<Executed | null> {
    const { client } = this;
    const block = { blockOverrides: { time: numberToHex(this.#newerThanRounds()) }, calls: [{ to, data }] };
    const simulated = await client
      .ask<ShownSimulation>("eth_simulateV1", [{ blockStateCalls: [block] }, "latest"])
      .catch((error: unknown) => {
        if (error instanceof RpcError && error.kind === "refused") return null;
        throw error;
      });
    if (simulated === null) return null;
    const [{ calls }] = simulated;
    const [{ status, returnData, gasUsed, error }] = calls;
    if (hexToNumber(status) === 1) return { result: returnData, gas: hexToBigInt(gasUsed) };
    const reverted = error?.data ?? returnData;
    if (reverted === "0x") return null;
    throw new RpcError("refused", client.chain.id, "eth_simulateV1", "the call reverted", reverted);
  }

  /** @throws RpcError when a call returned something that no dataset returns. */
  #decode<T>(read: () => T): T {
    try {
      return read();
    } catch {
      throw new RpcError("failed", this.client.chain.id, "eth_call", "returned something that no dataset returns");
    }
  }
}

/** Returns the status that is stored after an update, and whether the update stored it. */
function decodeUpdate(outcome: Outcome, data: Hex): readonly [status: number, isNew: boolean] {
  const functionName = outcome === "NOT_AVAILABLE" ? "updateNotAvailable" : "update";
  return decodeFunctionResult({ abi: datasetAbi, functionName, data });
}

/**
 * Returns true if the error has revert data. Otherwise only the node's message tells why the call failed: some nodes
 * omit the data, and an EVM that lacks an instruction of the dataset produces none.
 */
function hasRevertData(error: RpcError): error is RpcError & { readonly data: Hex } {
  return error.data !== null && error.data !== "0x";
}

/** Returns how far the clock of the node is behind an update's round, in milliseconds; 0 for any other error. */
function msBehindRound(error: unknown): number {
  if (!(error instanceof RpcError) || !hasRevertData(error)) return 0;
  const revert = decodeRevert(error.data);
  if (revert?.errorName !== "FutureRound") return 0;
  const [round, blockTime] = revert.args;
  return Math.max(0, Number(round - blockTime)) * 1000;
}

/** Returns null for an error that the dataset does not declare. */
function decodeRevert(data: Hex) {
  try {
    return decodeErrorResult({ abi: datasetAbi, data });
  } catch {
    return null;
  }
}

/** Returns why the dataset, or the EVM of its node, refuses an update; any other error as it is. */
function refusalIn(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.kind !== "refused") return error;
  if (error.meaning === "invalid_opcode") {
    const fix = "The network's EVM is older than Cancun, which the dataset's code needs.";
    return new UpdateReverted("invalid opcode", fix, error);
  }
  if (!hasRevertData(error)) return error;
  const revert = decodeRevert(error.data);
  const named = revert && `${revert.errorName}(${(revert.args ?? []).join(", ")})`;
  return new UpdateReverted(named, undefined, error);
}

function withSpare(gas: bigint): bigint {
  return gas + gas / 4n;
}
