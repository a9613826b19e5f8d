import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { buildSpec } from "../network/build-spec.js";

const SPECS = 255;
const HOSTS = 8;

export const unclosedSourceConnections = {
  name: "unclosed-source-connections",
  breach: "hosts that keep their connections open make a provider unable to ask others",
  isFast: false,
  async run(network, tally) {
    const provider = await network.startProvider();
    const answer = (_, response) => response.end('{"value":1}');
    const specs = Array.from({ length: SPECS }, (_, i) => {
      const sources = Array.from({ length: HOSTS }, (_, j) => {
        const host = `idle-${i}-${j}.attack.example`;
        network.internet.serve(host, answer);
        return { url: `https://${host}/` };
      });
      return buildSpec(`idle ${i}`, sources);
    });
    const hashes = await network.publish(...specs);
    const ask = (hash) => network.reportOfSpec(provider, { dataset: network.numbers, key: network.key(hash) });
    await forEachConcurrently(hashes.slice(1), 4, async (hash) => {
      tally.attempt(HOSTS);
      await ask(hash);
    });
    const others = {
      "a price": await network.report(provider, { key: "SPOTPX/ETH-USD" }),
      "a spec": await ask(hashes[0]),
    };
    for (const [what, { json, text }] of Object.entries(others)) {
      if (json?.outcome !== "OK") tally.breach(`${what} is not read any more: ${text}`);
    }
  },
};
