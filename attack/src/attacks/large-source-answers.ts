import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Attack } from "../attack.js";
import { buildSpec, variable } from "../network/build-spec.js";

const REQUESTS = 24;
const HEAP_MIB = 600;

export const largeSourceAnswers: Attack = {
  name: "large-source-answers",
  breach: `a provider with a heap of ${HEAP_MIB} MiB exits, or does not answer honest requests, when specs read large answers`,
  isFast: false,
  async run(network, tally) {
    const answer = Buffer.from(`[${"{},".repeat(340_000)}0]`);
    const sources = Array.from({ length: 8 }, (_, i) => {
      const host = `large-${i}.attack.example`;
      network.internet.serve(host, (_request, response) => response.end(answer));
      return { url: `https://${host}/{v}`, path: "$[340000]" };
    });
    const spec = buildSpec("large", sources, { variables: [variable("v", "alphanumeric")] });
    const hash = await network.publishOne(spec);
    const provider = await network.startProvider(0, {}, { nodeOptions: `--max-old-space-size=${HEAP_MIB}` });
    const callers = network.callers(4);
    await forEachConcurrently(Array.from({ length: REQUESTS }), 10, async (_, i) => {
      tally.attempt();
      const request = { dataset: network.numbers, key: network.key(hash, `v${i}`) };
      await network.report(provider, request, { from: callers[i % callers.length] as string, timeoutMs: 30_000 });
    });
    const { status } = await network.live(provider);
    if (status !== 200) tally.breach(`/live is answered ${status}`);
    const honest = await network.report(provider, { key: "SPOTPX/ETH-USD" });
    if (honest.json?.outcome !== "OK") tally.breach(`an honest request is answered ${honest.status}: ${honest.text}`);
  },
};
