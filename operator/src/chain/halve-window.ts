import type { Blocks } from "./read-blocks.js";
import { RpcError } from "./rpc-error.js";

/**
 * Returns how many blocks to read at a time after a node has refused a range of blocks.
 *
 * @throws The error, unless it is a refusal of more than one block.
 */
export function halveWindow({ from, to }: Blocks, error: unknown): number {
  if (!(error instanceof RpcError) || error.kind !== "refused" || from === to) throw error;
  return Math.ceil((to - from + 1) / 2);
}
