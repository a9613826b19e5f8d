import type { Hex } from "viem";
import { call } from "viem/actions";
import type { ChainClient } from "./client.js";
import { RpcError, unwrapRpcError } from "./rpc-error.js";

/** Init code that runs the newest instructions that the contracts use, PUSH0 and Cancun's, and returns nothing. */
const USES_REQUIRED: Hex = "0x5f5f5d5f5c505f5f5f5e5f5ff3";
/** Init code that returns nothing, on any EVM. */
const USES_NOTHING: Hex = "0x60006000f3";

/**
 * Finds out whether the chain can run the contracts, by calls of init code that create no contract and need no
 * overrides.
 *
 * @returns The node's message if it cannot; null if it can, or if the node refuses such calls altogether.
 * @throws RpcError when the node does not answer.
 */
export async function readEvmTooOldReason(client: ChainClient): Promise<string | null> {
  const refusal = async (data: Hex) => {
    try {
      await unwrapRpcError(client, "eth_call", call(client, { data }));
      return null;
    } catch (error) {
      if (error instanceof RpcError && error.kind === "refused") return error.reason;
      throw error;
    }
  };
  const reason = await refusal(USES_REQUIRED);
  return reason !== null && (await refusal(USES_NOTHING)) === null ? reason : null;
}

/** The words of geth, Erigon, Hardhat and Ganache; of Besu; of Nethermind; of anvil. */
const INVALID_OPCODE = /invalid opcode|invalid_operation|bad ?instruction|opcode ?not ?found|not ?activated/i;

/** Returns true if a node's message means that the EVM does not know an instruction. */
export function isInvalidOpcode(reason: string): boolean {
  return INVALID_OPCODE.test(reason);
}
