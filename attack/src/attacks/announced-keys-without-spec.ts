import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "@dataset-oracle/devnet/network-services";
import { sendCalls } from "@dataset-oracle/devnet/test-support/send-calls";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeFunctionData, type Hex } from "viem";
import type { Attack } from "../attack.js";
import { call } from "../http.js";
import { startLyingRpcProxy } from "../network/lying-rpc-proxy.js";
import type { Network } from "../network/network.js";

const KEYS = 200;
const OVERVIEWS = 5;
/** An overview reads the head, and the price and the values of each of three datasets. */
const MAX_CALLS_PER_OVERVIEW = 40;

export const announcedKeysWithoutSpec: Attack = {
  name: "announced-keys-without-spec",
  breach: `keys that anyone announced without a spec are in an operator's overview, or cost it more than ${MAX_CALLS_PER_OVERVIEW} RPC calls for each`,
  isFast: false,
  async run(network, tally) {
    const { client, numbers } = network;
    const keys = Array.from({ length: KEYS }, (_, i) => network.key(`0x${(i + 1).toString(16).padStart(64, "e")}`));
    const announce = (key: Hex) => encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [key] });
    await sendCalls(client, numbers, keys.map(announce));
    tally.attempt(KEYS);
    const rpc = network.own(await startLyingRpcProxy(network.chain.url));
    const operator = await network.startOperator({ rpcUrls: [rpc.url] });
    for (let i = 0; i < OVERVIEWS; i++) {
      await sleep(1_100);
      const before = rpc.count();
      const text = await overview(network, operator);
      const calls = rpc.count() - before;
      const listed = keys.filter((key) => text.includes(key)).length;
      if (listed > 0) tally.breach(`an overview lists ${listed} of the announced keys`, listed);
      if (calls > MAX_CALLS_PER_OVERVIEW)
        tally.breach(`an overview cost ${calls} calls`, calls - MAX_CALLS_PER_OVERVIEW);
    }
  },
};

async function overview(network: Network, operator: Service): Promise<string> {
  const { status, text } = await call(`${operator.url}/overview`, { from: network.caller() });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return text;
}
