import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { queryLensAbi } from "@dataset-oracle/protocol/abi/query-lens";
import { type Address, getAbiItem, type Hex, keccak256, stringToHex, toFunctionSelector } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Chain, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type RpcProxy, startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

/**
 * These tests decide what time it is, for the operator and for the chain, and let no time pass while the operator
 * works. So the ages in the chain's events are the same on any machine, however loaded it is.
 */

/** The operator looks again at once, because its waits are for a time that passes between its looks only. */
vi.mock("node:timers/promises", async (importOriginal) => {
  const { setTimeout: delay, ...others } = await importOriginal<typeof import("node:timers/promises")>();
  const LONGEST_WAIT_FOR_A_BEAT_MS = 2_000;
  const shortened: typeof delay = (ms = 0, ...args) => delay(ms <= LONGEST_WAIT_FOR_A_BEAT_MS ? 5 : ms, ...args);
  return { ...others, setTimeout: shortened };
});

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

const LENS = toFunctionSelector(getAbiItem({ abi: queryLensAbi, name: "queryMany" }));
const WORK = ["eth_sendRawTransaction", "eth_simulateV1", "eth_estimateGas"];
/** More looks than it takes to begin the work that a look has found. */
const IDLE_LOOKS = 4;

/** Returns how often the operator has looked at the feeds since `proxy.calls` was emptied. */
function looks(): number {
  return proxy.calls.filter(({ method, params: [call] }) => {
    return method === "eth_call" && ((call ?? {}) as { data?: Hex }).data?.startsWith(LENS);
  }).length;
}

/** Returns how much the operator has done for updates: questions to providers, simulations, submissions. */
function work(): number {
  const asked = providers.reduce((sum, { asked, askedForRows }) => sum + asked.length + askedForRows.length, 0);
  return asked + proxy.calls.filter(({ method }) => WORK.includes(method)).length;
}

/** Waits until the operator has looked at the feeds at the present time, and done what it decided to do. */
async function settle(): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  proxy.calls.length = 0;
  for (let [done, since] = [-1, 0]; ; ) {
    const [doneNow, looksNow] = [work(), looks()];
    const isQueued = [...(operator?.networks.values() ?? [])].some(({ senders }) => senders.queues[0]?.depth.waiting);
    if (doneNow !== done || isQueued) [done, since] = [doneNow, looksNow];
    if (looksNow - since >= IDLE_LOOKS) return;
    if (Date.now() > giveUpAt) throw new Error(operator?.log.slice(-20).join(""));
    await new Promise((resolve) => setTimeout(resolve, 5));
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
  300_000,
);
