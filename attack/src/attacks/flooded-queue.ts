import { setTimeout as sleep } from "node:timers/promises";
import { CALLER } from "@dataset-oracle/devnet/accounts";
import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import { QUERY_PRICE } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Address, stringToHex } from "viem";
import type { Attack } from "../attack.js";
import { buildSpec, variable } from "../network/build-spec.js";
import { priceKey } from "../network/network.js";

const HOST = "flood.attack.example";
const CALLERS = 14;
const BROADCASTS = 20;
const BLOCK_SECONDS = 5;
const HEARTBEAT_SECONDS = 20;
const FLOOD_MS = 45_000;
/** The heartbeat, and a few blocks, because an update can take longer than the ones before it. */
const MAX_FEED_AGE_SECONDS = HEARTBEAT_SECONDS + 4 * BLOCK_SECONDS;

export const floodedQueue: Attack = {
  name: "flooded-queue",
  breach: `with slow blocks, broadcasts from ${CALLERS} addresses make a feed older than ${MAX_FEED_AGE_SECONDS} s, although its heartbeat is ${HEARTBEAT_SECONDS} s`,
  isFast: false,
  async run(network, tally) {
    const { client, numbers, prices } = network;
    const fed = priceKey(0);
    network.internet.serve(HOST, (_, response) => response.end('{"value":1}'));
    const hash = await network.publishOne(
      buildSpec("flood", { url: `https://${HOST}/{v}` }, { variables: [variable("v", "alphanumeric")] }),
    );
    const feeds = [
      {
        dataset: prices,
        keys: [fed],
        heartbeatSeconds: HEARTBEAT_SECONDS,
        deviationBps: 10_000,
        minIntervalSeconds: 5,
      },
    ];
    const gas = { gasPerHour: 1e12, gasPerHourForNewKeys: 1e12, gasPerHourForFeeds: 1e12 };
    const operator = await network.startOperator({ feeds, feedPollMs: 1_000, ...gas });
    await network.update(operator, { key: fed, broadcast: true }, { headers: { prefer: "wait=20" } });
    await client.setIntervalMining({ interval: BLOCK_SECONDS });
    try {
      const end = Date.now() + FLOOD_MS;
      // One caller after the other, each sends as many at once as its limit allows, so that an update of the feed falls
      // due in between.
      const flood = network.callers(CALLERS).flatMap((from, caller) =>
        Array.from({ length: BROADCASTS }, async (_, i) => {
          await sleep(caller * 1_500);
          tally.attempt();
          const key = network.key(hash, `v${caller}x${i}`);
          return network.update(operator, { dataset: numbers, key, broadcast: true }, { from, timeoutMs: 60_000 });
        }),
      );
      let oldest = 0;
      while (Date.now() < end) {
        oldest = Math.max(oldest, await ageOf(client, prices, fed));
        await sleep(1_000);
      }
      if (oldest > MAX_FEED_AGE_SECONDS) tally.breach(`the feed was ${oldest} s old`);
      tally.note(`the feed was at most ${oldest} s old`);
      await client.setIntervalMining({ interval: 1 });
      await Promise.all(flood);
    } finally {
      await client.setIntervalMining({ interval: 1 });
    }
  },
};

async function ageOf(client: TestChainClient, dataset: Address, key: string) {
  const { result } = await client.simulateContract({
    ...{ address: dataset, abi: datasetAbi, functionName: "query", args: [stringToHex(key)] },
    ...{ account: CALLER.address, value: QUERY_PRICE },
  });
  return Math.floor(Date.now() / 1_000) - Number(result[1]);
}
