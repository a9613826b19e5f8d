import { setTimeout as sleep } from "node:timers/promises";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeFunctionData, type Hex } from "viem";
import type { Attack } from "../attack.js";
import { call } from "../http.js";
import { startLyingRpcProxy } from "../network/lying-rpc-proxy.js";
import type { Network, Operator } from "../network/network.js";
import { sendCalls } from "../network/send-calls.js";

const KEYS = 200;
const OVERVIEWS = 5;
/** An overview reads the head, the new keys and specs, and the price and the values of each of three datasets. */
const MAX_CALLS_PER_OVERVIEW = 40;

export const announcedKeysWithoutSpec: Attack = {
  name: "announced-keys-without-spec",
  breach: `keys that anyone announced without a spec cost an operator more than ${MAX_CALLS_PER_OVERVIEW} RPC calls for each further overview`,
  isFast: false,
  async run(network, tally) {
    const { client, numbers } = network;
    const keys = Array.from({ length: KEYS }, (_, i) => network.key(`0x${(i + 1).toString(16).padStart(64, "e")}`));
    const announce = (key: Hex) => encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [key] });
    await sendCalls(client, numbers, keys.map(announce));
    tally.attempt(KEYS);
    const rpc = network.own(await startLyingRpcProxy(network.chain.url));
    const operator = await network.startOperator({ rpcUrls: [rpc.url] });
    // The first overview may read each key once.
    await overview(network, operator);
    for (let i = 0; i < OVERVIEWS; i++) {
      await sleep(1_100);
      const before = rpc.count();
      const points = await overview(network, operator);
      const calls = rpc.count() - before;
      if (points < KEYS) throw new Error(`The overview has ${points} points.`);
      if (calls > MAX_CALLS_PER_OVERVIEW)
        tally.breach(`an overview of ${points} points cost ${calls} calls`, calls - MAX_CALLS_PER_OVERVIEW);
    }
  },
};

async function overview(network: Network, operator: Operator): Promise<number> {
  const { status, text } = await call(`${operator.url}/overview`, { from: network.caller() });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const datasets: { points?: unknown[] }[] = JSON.parse(text).networks[0].datasets;
  return datasets.reduce((sum, { points }) => sum + (points?.length ?? 0), 0);
}
