import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Hex } from "viem";
import type { Attack } from "../attack.js";
import { buildSpec } from "../network/build-spec.js";
import type { Handler } from "../network/simulated-internet.js";

const SPECS = 255;
const HOSTS = 8;

export const unclosedSourceConnections: Attack = {
  name: "unclosed-source-connections",
  breach: "hosts that keep their connections open make a provider unable to ask others",
  isFast: false,
  async run(network, tally) {
    const provider = await network.startProvider();
    const answer: Handler = (_, response) => response.end('{"value":1}');
    const specs = Array.from({ length: SPECS }, (_, i) => {
      const sources = Array.from({ length: HOSTS }, (_, j) => {
        const host = `idle-${i}-${j}.attack.example`;
        network.internet.serve(host, answer);
        return { url: `https://${host}/` };
      });
      return buildSpec(`idle ${i}`, sources);
    });
    const [first, ...hashes] = (await network.publish(...specs)) as [Hex, ...Hex[]];
    const ask = (hash: Hex) => network.reportOfSpec(provider, { dataset: network.numbers, key: network.key(hash) });
    await forEachConcurrently(hashes, 4, async (hash) => {
      tally.attempt(HOSTS);
      await ask(hash);
    });
    const others = {
      "a price": await network.report(provider, { key: "SPOTPX/ETH-USD" }),
      "a spec": await ask(first),
    };
    for (const [what, { json, text }] of Object.entries(others)) {
      if (json?.outcome !== "OK") tally.breach(`${what} is not read any more: ${text}`);
    }
  },
};
