import { setTimeout as sleep } from "node:timers/promises";
import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Address, Hex } from "viem";

const MINED_MS = 10_000;

/**
 * Returns how many of the sent transactions are mined, divided by the seconds that sending takes. Waiting for the
 * blocks does not count, because the chain includes every waiting transaction in its next block.
 *
 * @param send Sends an update by its index, and returns its transaction's hash.
 */
export async function minedPerSecond(
  { client, dataset }: { readonly client: TestChainClient; readonly dataset: Address },
  updates: number,
  atOnce: number,
  send: (index: number) => Promise<Hex>,
): Promise<number> {
  const from = await client.getBlockNumber({ cacheTime: 0 });
  const hashes = new Set<Hex>();
  const start = performance.now();
  await forEachConcurrently(Array(updates).keys(), atOnce, async (i) => hashes.add(await send(i)));
  const seconds = (performance.now() - start) / 1_000;
  const end = performance.now() + MINED_MS;
  let mined = 0;
  while (mined < hashes.size && performance.now() < end) {
    await sleep(200);
    const logs = await client.getContractEvents({
      address: dataset,
      abi: datasetAbi,
      eventName: "Updated",
      fromBlock: from,
    });
    mined = new Set(logs.map(({ transactionHash }) => transactionHash).filter((hash) => hashes.has(hash))).size;
  }
  return mined / seconds;
}
