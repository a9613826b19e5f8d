import { setTimeout as delay } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { type Hex, hexToNumber } from "viem";
import { Quantity, type Rpc, requestAs } from "./rpc.js";

export interface Mined {
  readonly blockNumber: number;
  readonly isReverted: boolean;
}

const POLL_MS = 500;

const Receipt = Type.Union([Type.Null(), Type.Object({ blockNumber: Quantity, status: Quantity })]);

/**
 * Waits until a transaction is mined. A look that fails, or finds no receipt, is repeated: the transaction is on
 * its way all the same.
 *
 * @returns Null when it is not mined in time, or the signal ends the wait.
 */
export async function waitUntilMined(rpc: Rpc, hash: Hex, waitMs: number, signal: AbortSignal): Promise<Mined | null> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  while (!stop.aborted) {
    const receipt = await requestAs(rpc, Receipt, "eth_getTransactionReceipt", [hash]).catch(() => null);
    if (receipt !== null) {
      const { blockNumber, status } = receipt;
      return { blockNumber: hexToNumber(blockNumber), isReverted: hexToNumber(status) === 0 };
    }
    await delay(POLL_MS, undefined, { signal: stop }).catch(() => {});
  }
  return null;
}
