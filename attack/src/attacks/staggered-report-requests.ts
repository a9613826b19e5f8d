import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { buildSpec } from "../network/build-spec.js";

const HOST = "clock.attack.example";
const ROUNDS = 3;
const LATER_MS = 7_000;
/** Honest operators ask all providers at the same time; reading and clocks differ by this much at most. */
const MAX_SPREAD_SECONDS = 3;

export const staggeredReportRequests: Attack = {
  name: "staggered-report-requests",
  breach: `a caller that asks providers for one round at different times gets values that were read more than ${MAX_SPREAD_SECONDS} s apart`,
  isFast: false,
  async run(network, tally) {
    network.internet.serve(HOST, (_, response) => response.end(`{"value":${Math.floor(Date.now() / 1_000)}}`));
    const specs = Array.from({ length: ROUNDS }, (_, i) => buildSpec(`clock ${i}`, { url: `https://${HOST}/${i}` }));
    const hashes = await network.publish(...specs);
    const dataset = network.numbers;
    // The providers look the specs up before the attack, so that lookups do not change its timing.
    for (const hash of hashes) {
      const key = network.key(hash);
      await Promise.all(network.providers.map((provider) => network.reportOfSpec(provider, { dataset, key })));
    }
    await Promise.all(
      hashes.map(async (hash) => {
        const round = Math.floor(Date.now() / 1_000);
        const request = { dataset, key: network.key(hash), round };
        const [first, ...others] = network.providers;
        const answers = [await network.report(first, request)];
        await sleep(LATER_MS);
        answers.push(...(await Promise.all(others.map((provider) => network.report(provider, request)))));
        tally.attempt(others.length);
        const values = answers
          .filter(({ json }) => json?.outcome === "OK")
          .map(({ json }) => Number(BigInt(json.value)));
        const apart = Math.max(...values) - Math.min(...values);
        if (values.length > 1 && apart > MAX_SPREAD_SECONDS)
          tally.breach(`round ${round}: ${values.join(", ")}`, values.length - 1);
      }),
    );
  },
};
