import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { buildSpec, variable } from "../network/build-spec.js";

const HOST = "cpu.attack.example";
const REQUESTS = 10;
/** Far longer than an answer of /live takes on a busy machine, and far shorter than ten such requests on one thread. */
const LONGEST_MS = 2_000;

export const costlyJsonPath: Attack = {
  name: "costly-json-path",
  breach: `a provider that evaluates costly paths does not answer /live within ${LONGEST_MS} ms, or an honest request`,
  isFast: false,
  /** The variable is only in the paths, so that all keys share one answer and no source's limit applies. */
  async run(network, tally) {
    const { internet } = network;
    const answer = `{"l":[${"1,".repeat(249_000)}1]}`;
    internet.serve(HOST, (_, response) => response.end(answer));
    const sources = Array.from({ length: 8 }, (_, i) => {
      return { url: `https://${HOST}/${i}`, path: "$.l[?@ != 2]['{v}']", errorPath: "$.l[?@ > 2]['{v}']" };
    });
    const spec = buildSpec("costly", sources, { variables: [variable("v", "alphanumeric")] });
    const hash = await network.publishOne(spec);
    const provider = await network.startProvider();
    const dataset = network.numbers;
    // The provider's first request reads the spec.
    await network.report(provider, { dataset, key: network.key(hash, "first") });
    const attacker = network.caller();
    let isOver = false;
    let slowest = 0;
    const attack = Promise.all(
      Array.from({ length: REQUESTS }, (_, i) => {
        tally.attempt();
        return network.report(
          provider,
          { dataset, key: network.key(hash, `v${i}`) },
          { from: attacker, timeoutMs: 60_000 },
        );
      }),
    ).then(() => {
      isOver = true;
    });
    while (!isOver) {
      const start = performance.now();
      const { status } = await network.live(provider);
      const ms = Math.round(performance.now() - start);
      slowest = Math.max(slowest, ms);
      if (status !== 200 || ms > LONGEST_MS) tally.breach(`/live took ${ms} ms (${status})`);
      await sleep(50);
    }
    await attack;
    tally.note(`the slowest /live took ${slowest} ms`);
    const honest = await network.report(provider, { key: "SPOTPX/ETH-USD" });
    if (honest.json?.outcome !== "OK") tally.breach(`an honest request is answered ${honest.status}: ${honest.text}`);
  },
};
