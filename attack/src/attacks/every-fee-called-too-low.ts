import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { startLyingRpcProxy } from "../network/lying-rpc-proxy.js";
import { PRICE_KEYS, priceKey } from "../network/network.js";

const LIE_MS = 10_000;

export const everyFeeCalledTooLow: Attack = {
  name: "every-fee-called-too-low",
  breach: `an operator no longer serves requests after an RPC endpoint rejected all fees as too low for ${LIE_MS / 1_000} s`,
  isFast: false,
  async run(network, tally) {
    const rpc = network.own(await startLyingRpcProxy(network.chain.url));
    const operator = await network.startOperator(
      { rpcUrls: [rpc.url], rpcPollMs: 500, gasPerHourForNewKeys: 1e9 },
      { broadcastsPerMinute: 1_000 },
    );
    const ask = (key: string) =>
      network.update(operator, { key, broadcast: true }, { headers: { prefer: "wait=20" }, timeoutMs: 40_000 });
    const error = { error: { code: -32_000, message: "transaction underpriced" } };
    rpc.lies.set("eth_sendRawTransaction", async () => error);
    const end = Date.now() + LIE_MS;
    while (Date.now() < end) {
      tally.attempt();
      await Promise.race([ask(priceKey(0)), sleep(500)]);
    }
    rpc.lies.clear();
    for (const key of PRICE_KEYS.slice(1, 4)) {
      const { status, json, text } = await ask(key);
      if (status !== 200 || !json.transaction_hash) tally.breach(`${status}: ${text}`);
    }
  },
};
