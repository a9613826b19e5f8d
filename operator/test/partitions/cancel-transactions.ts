import { setTimeout as delay } from "node:timers/promises";
import type { PrivateKeyAccount } from "viem/accounts";
import type { Chain } from "../support/chain.js";

const POLL_MS = 50;

/**
 * Replaces each transaction of an account by a transfer of nothing as soon as the chain has it: what others wait for is
 * never mined.
 *
 * @returns A function that stops it and returns how many were replaced.
 */
export function startCancelling(chain: Chain, account: PrivateKeyAccount): () => Promise<number> {
  const { client } = chain;
  const ending = new AbortController();
  const replaced = new Set<number>();
  const look = async () => {
    const { pending } = await client.getTxpoolContent();
    const own = Object.entries(pending).find(([sender]) => sender.toLowerCase() === account.address.toLowerCase());
    for (const [nonce, { to, gasPrice, maxFeePerGas }] of Object.entries(own?.[1] ?? {})) {
      if (to?.toLowerCase() === account.address.toLowerCase()) continue;
      const fee = 2n * BigInt(maxFeePerGas ?? gasPrice ?? 0);
      const raw = await account.signTransaction({
        ...{ chainId: 42, nonce: Number(nonce), to: account.address, gas: 21_000n },
        ...{ maxFeePerGas: fee, maxPriorityFeePerGas: fee },
      });
      await client.sendRawTransaction({ serializedTransaction: raw });
      replaced.add(Number(nonce));
    }
  };
  const running = (async () => {
    while (!ending.signal.aborted) {
      // The block may have come first.
      await look().catch(() => {});
      await delay(POLL_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return async () => {
    ending.abort();
    await running;
    return replaced.size;
  };
}
