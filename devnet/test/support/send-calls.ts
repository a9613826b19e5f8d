import { OWNER } from "@dataset-oracle/devnet/accounts";
import type { Address, Hex } from "viem";
import type { TestChainClient } from "./chain-client.js";

/**
 * Sends calls to a contract and waits until they are mined. The nonces are counted here, and lost transactions are sent
 * again, because anvil may use a nonce twice while it mines a block.
 */
export async function sendCalls(client: TestChainClient, to: Address, calls: readonly Hex[]): Promise<void> {
  const { address } = OWNER;
  let left = calls;
  for (let tried = 1; left.length > 0; tried++) {
    if (tried > 3) throw new Error(`${left.length} of ${calls.length} transactions were not mined.`);
    await client.mine({ blocks: 1 });
    const first = await client.getTransactionCount({ address });
    const hashes: (Hex | null)[] = [];
    for (const [i, data] of left.entries()) {
      const gas = await client.estimateGas({ account: address, to, data });
      const send = client.sendTransaction({ account: address, to, data, gas, nonce: first + i });
      hashes.push(await send.catch(() => null));
    }
    await client.mine({ blocks: 1 });
    const isMined = await Promise.all(
      hashes.map(async (hash) => {
        if (hash === null) return false;
        const receipt = client.waitForTransactionReceipt({ hash, timeout: 10_000 });
        return receipt.then(() => true).catch(() => false);
      }),
    );
    left = left.filter((_, i) => !isMined[i]);
  }
}
