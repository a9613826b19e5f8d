import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { queryLensAbi } from "@dataset-oracle/protocol/abi/query-lens";
import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import {
  type Address,
  decodeFunctionData,
  getAbiItem,
  type Hex,
  keccak256,
  stringToHex,
  toFunctionSelector,
} from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Chain, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type RpcProxy, startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

/**
 * These tests decide what time it is, for the operator and for the chain, and let no time pass while the operator
 * works. So the ages in the chain's events are the same on any machine, however loaded it is.
 */

const KEYS = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD", "SPOTPX/SOL-USD"];
const STEP_SECONDS = 2;

let chain: Chain;
let proxy: RpcProxy;
let providers: Provider[];
let operator: RunningOperator | undefined;
let dataset: Address;
/** In seconds since 1970. */
let time: number;

beforeEach(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  proxy = await startRpcProxy(chain.url);
  await chain.client.setIntervalMining({ interval: 0 });
});

afterEach(async () => {
  await operator?.close();
  operator = undefined;
  await Promise.all([proxy?.close(), ...(providers?.map((provider) => provider.close()) ?? [])]);
  await chain?.close();
});

async function mineAt(seconds: number): Promise<void> {
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(seconds) });
  await chain.client.mine({ blocks: 1 });
}

/** Returns how many feeds the pending transactions update. */
async function pendingFeeds(): Promise<number> {
  const { pending } = await chain.client.getTxpoolContent();
  const transactions = Object.values(pending).flatMap((ofSender) => Object.values(ofSender));
  const updates = transactions.map(({ input }) => decodeUpdateCall(input));
  return updates.reduce((sum, update) => sum + (update?.kind === "batch" ? update.keyHashes.length : 1), 0);
}

/** Returns how many feeds the operator has read at each look since a call: those that have no update on its way. */
function feedsRead(since: number): readonly number[] {
  const selector = toFunctionSelector(getAbiItem({ abi: queryLensAbi, name: "queryMany" }));
  return proxy.calls.slice(since).flatMap(({ method, params: [call, blockTag] }) => {
    const { data = "0x" } = (call ?? {}) as { data?: Hex };
    if (method !== "eth_call" || blockTag !== "pending" || !data.startsWith(selector)) return [];
    return [decodeFunctionData({ abi: queryLensAbi, data }).args[1].length];
  });
}

/**
 * Waits until the operator has compared the feeds with the chain at the present time, and sent what it decided to send.
 */
async function settle(): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  const since = proxy.calls.length;
  for (;;) {
    const pending = await pendingFeeds();
    const read = feedsRead(since);
    // The first poll may have begun before the clock moved on, and the third leaves out the feeds that the second found
    // due. While all feeds wait for a block, none is read.
    const idle = read.length < 3 ? 0 : (read.at(-1) ?? 0);
    if (pending + idle === KEYS.length) return;
    if (Date.now() > giveUpAt) throw new Error(operator?.log.slice(-20).join(""));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test.each([
  [60, 12],
  [60, 2],
  [30, 12],
])(
  "with a heartbeat of %s s, and blocks every %s s, no stored value is ever older",
  async (heartbeat, block) => {
    const newest = await chain.client.getBlock();
    await chain.client.mine({ blocks: 50, interval: block });
    time = Number(newest.timestamp) + 50 * block;
    const feed = { dataset, keys: KEYS, heartbeatSeconds: heartbeat, deviationBps: 1_000_000, minIntervalSeconds: 5 };
    const settings = { feeds: [feed], feedPollMs: 20, rpcPollMs: 20, maxHeadLagSeconds: 1_000_000 };
    operator = await startOperator([{ chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] }], {
      clock: () => time * 1000,
    });
    for (const end = time + heartbeat * 6; time < end; ) {
      time += STEP_SECONDS;
      await chain.client.request({ method: "anvil_setTime" as never, params: [time] as never });
      await settle();
      if (time % block < STEP_SECONDS) await mineAt(time);
    }

    const logs = await chain.client.getContractEvents({
      ...{ address: dataset, abi: datasetAbi, eventName: "Updated", fromBlock: 0n, strict: true },
    });
    for (const key of KEYS) {
      const ofKey = logs.filter(({ args }) => args.keyHash === keccak256(stringToHex(key)));
      const ages = await Promise.all(
        ofKey.slice(1).map(async ({ blockNumber }, index) => {
          const replaced = await chain.client.getBlock({ blockNumber });
          return Number(replaced.timestamp - (ofKey[index]?.args.timestamp ?? 0n));
        }),
      );
      expect(ages.length).toBeGreaterThanOrEqual(4);
      expect(Math.max(...ages)).toBeLessThanOrEqual(heartbeat);
      // It is not updated much too often either.
      expect(Math.min(...ages.slice(1))).toBeGreaterThanOrEqual(heartbeat / 2);
    }
  },
  120_000,
);
