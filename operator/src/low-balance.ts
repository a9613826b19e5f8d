import { parseGwei } from "viem";
import type { NetworkSettings } from "./config.js";

/** Returns true if a sender needs more Ether soon: an empty one always, any other below `lowBalanceGwei`. */
export function isLowBalance(wei: bigint, { lowBalanceGwei }: NetworkSettings): boolean {
  return wei === 0n || wei < parseGwei(String(lowBalanceGwei));
}
