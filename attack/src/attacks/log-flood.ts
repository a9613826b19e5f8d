import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Attack } from "../attack.js";
import { call } from "../http.js";

const REQUESTS = 1_500;
const URL_LENGTH = 7_000;
/** The maximum average for one refused request: enough for a short line for each, or long lines for a few. */
const MAX_BYTES_PER_REQUEST = 512;

export const logFlood: Attack = {
  name: "log-flood",
  breach: `a refused request makes a service log more than ${MAX_BYTES_PER_REQUEST} bytes on average`,
  isFast: true,
  async run(network, tally) {
    for (const service of [network.operator, network.providers[0]]) {
      const from = network.caller();
      const before = service.log().length;
      await forEachConcurrently(Array.from({ length: REQUESTS }), 16, async (_, i) => {
        tally.attempt();
        await call(`${service.url}/${String(i).padEnd(URL_LENGTH, "x")}`, { from });
      });
      const bytes = Math.round((service.log().length - before) / REQUESTS);
      tally.note(`${service.name} logged ${bytes} bytes for each`);
      if (bytes > MAX_BYTES_PER_REQUEST)
        tally.breach(`${service.name} logged ${bytes} bytes for each of ${REQUESTS}`, REQUESTS);
    }
  },
};
