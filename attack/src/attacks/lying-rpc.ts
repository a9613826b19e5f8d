import { setTimeout as sleep } from "node:timers/promises";
import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import { type Address, numberToHex, type Transaction } from "viem";
import type { Attack } from "../attack.js";
import { type Lie, startLyingRpcProxy } from "../network/lying-rpc-proxy.js";
import { type Network, priceKey } from "../network/network.js";
import type { Tally } from "../results.js";

const GWEI = 10n ** 9n;
const MAX_PRIORITY_FEE = 50n * GWEI;
const LIE_MS = 6_000;
/** Just below the 5 s after which a process that has not ended is killed. */
const END_MS = 4_900;

const more =
  (by: bigint): Lie =>
  async (_, truth) =>
    numberToHex(BigInt(await truth()) + by);
const morePending =
  (by: bigint): Lie =>
  async (params, truth) =>
    params[1] === "pending" ? more(by)(params, truth) : truth();
const expensive = (fee: bigint): Record<string, Lie> => ({
  eth_maxPriorityFeePerGas: async () => numberToHex(fee),
  eth_gasPrice: async () => numberToHex(fee),
  eth_feeHistory: async (_, truth) => {
    const history = await truth();
    return { ...history, reward: history.reward?.map((block: unknown[]) => block.map(() => numberToHex(fee))) };
  },
});

/** Lies by method. */
const LIES: Record<string, Record<string, Lie>> = {
  "a priority fee of 499 gwei": expensive(499n * GWEI),
  "a priority fee of 2^200": expensive(2n ** 200n),
  "50 pending transactions": { eth_getTransactionCount: morePending(50n) },
  "1,000 pending transactions": { eth_getTransactionCount: morePending(1_000n) },
  "2^40 pending transactions": { eth_getTransactionCount: morePending(2n ** 40n) },
  "50 mined transactions": { eth_getTransactionCount: more(50n) },
  "2^40 mined transactions": { eth_getTransactionCount: more(2n ** 40n) },
  "counts that are no numbers": { eth_getTransactionCount: async () => "0xzz" },
  "a head far in the future": { eth_blockNumber: more(10n ** 12n) },
  "that nothing is mined": { eth_getTransactionReceipt: async () => null, eth_getTransactionByHash: async () => null },
  "another chain": { eth_chainId: async () => "0x1" },
};

export const lyingRpc: Attack = {
  name: "lying-rpc",
  breach: `an RPC endpoint that lies for ${LIE_MS / 1_000} s makes an operator pay a priority fee above its cap, use up nonces on transfers to itself, not serve afterwards, or not end when it is told to`,
  isFast: false,
  async run(network, tally) {
    // Each lie gets its own operator and endpoint, so that three can run side by side.
    const lies = Object.entries(LIES);
    for (let i = 0; i < lies.length; i += 3) {
      await Promise.all(
        lies
          .slice(i, i + 3)
          .map(([name, lie], j) => tell(network, tally, name, lie, [priceKey(2 * (i + j)), priceKey(2 * (i + j) + 1)])),
      );
    }
  },
};

async function tell(
  network: Network,
  tally: Tally,
  name: string,
  lie: Record<string, Lie>,
  [first, second]: readonly [string, string],
) {
  tally.attempt();
  const { client } = network;
  const rpc = network.own(await startLyingRpcProxy(network.chain.url));
  const budget = { gasPerHourForNewKeys: 1e9, rpcPollMs: 500, stuckSeconds: 2 };
  const operator = await network.startOperator({ rpcUrls: [rpc.url], ...budget }, { requestsPerMinute: 10_000 });
  const start = await client.getBlockNumber();
  const ask = (key: string, seconds: number) =>
    network.update(operator, { key, broadcast: true }, { headers: { prefer: `wait=${seconds}` } });
  for (const [method, answer] of Object.entries(lie)) rpc.lies.set(method, answer);
  const end = Date.now() + LIE_MS;
  while (Date.now() < end) {
    await Promise.all([ask(first, 1), sleep(1_000)]);
  }
  rpc.lies.clear();
  // Enough time for the operator to quarantine the endpoint, and to find that it is honest again.
  let served = await ask(second, 20);
  for (let i = 0; i < 10 && served.status !== 200; i++) {
    await sleep(1_000);
    served = await ask(second, 20);
  }
  if (served.status !== 200) tally.breach(`${name}: afterwards it answers ${served.status} ${served.text}`);
  for (const { hash, to, maxPriorityFeePerGas = 0n } of await sentBy(client, operator.address, start)) {
    if (maxPriorityFeePerGas > MAX_PRIORITY_FEE)
      tally.breach(`${name}: ${hash} pays ${maxPriorityFeePerGas / GWEI} gwei`);
    if (to?.toLowerCase() === operator.address.toLowerCase()) tally.breach(`${name}: ${hash} uses up a nonce`);
  }
  for (const [method, answer] of Object.entries(lie)) rpc.lies.set(method, answer);
  await sleep(1_500);
  const closing = Date.now();
  await operator.close();
  if (Date.now() - closing > END_MS) tally.breach(`${name}: it does not end`);
}

async function sentBy(client: TestChainClient, sender: Address, firstBlock: bigint) {
  const sent: Transaction[] = [];
  const last = await client.getBlockNumber();
  for (let blockNumber = firstBlock; blockNumber <= last; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    sent.push(...transactions.filter(({ from }) => from.toLowerCase() === sender.toLowerCase()));
  }
  return sent;
}
