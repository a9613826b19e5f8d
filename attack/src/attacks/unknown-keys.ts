import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Hex } from "viem";
import type { Attack } from "../attack.js";
import { priceKey } from "../network/network.js";

const CALLERS = 12;
const REQUESTS = 58;
const HONEST = 10;

export const unknownKeys: Attack = {
  name: "unknown-keys",
  breach: "requests for keys that do not exist use up an operator's allowance at the providers",
  isFast: false,
  async run(network, tally) {
    // By default no operator has a reserved share.
    const providers = await network.startProviders({ operators: [] });
    const operator = await network.startOperator({}, {}, { providers });
    const requests = network.callers(CALLERS).flatMap((from) => Array.from({ length: REQUESTS }, () => from));
    const specHash = (i: number): Hex => `0x${(i + 1).toString(16).padStart(64, "0")}`;
    await forEachConcurrently(requests, 16, async (from, i) => {
      tally.attempt();
      await network.update(operator, { dataset: network.numbers, key: network.key(specHash(i)) }, { from });
    });
    for (let i = 0; i < HONEST; i++) {
      const { status, json, text } = await network.update(operator, { key: priceKey(i) });
      if (status !== 200 || json.reports.length < 3) tally.breach(`an honest request is answered ${status}: ${text}`);
    }
  },
};
