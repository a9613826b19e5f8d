import type { Attack } from "../attack.js";
import { call } from "../http.js";

const LIMIT = 60;
const TIMES = 100;

/** The forms in which proxies write the address of one caller. */
const FORMS: Record<string, (i: number) => string> = {
  "an IPv4 address with a port": (i) => `203.0.113.7:${1_024 + i}`,
  "an IPv6 address in brackets with a port": (i) => `[2001:db8::7]:${1_024 + i}`,
  "IPv6 addresses of one network": (i) => `2001:db8:0:7::${i.toString(16)}`,
  "an IPv6 address with a zone": (i) => `fe80::7%eth${i}`,
  "a mapped IPv4 address with a port": (i) => `[::ffff:203.0.113.9]:${1_024 + i}`,
  "a mapped IPv4 address in hex and not": (i) => (i % 2 === 0 ? "::ffff:cb00:710b" : "203.0.113.11"),
  "an address after ones that the caller made up": (i) => `10.0.${i}.1, 203.0.113.13`,
  "text that is not an address": (i) => `unknown-${i}`,
};

export const forwardedForVariants: Attack = {
  name: "forwarded-for-variants",
  breach: "a caller behind a trusted proxy makes more requests in a minute than its limit",
  isFast: true,
  async run(network, tally) {
    const operator = await network.startOperator({}, { requestsPerMinute: LIMIT, trustedProxies: ["127.0.0.1"] });
    for (const [form, write] of Object.entries(FORMS)) {
      let answered = 0;
      for (let i = 0; i < TIMES; i++) {
        tally.attempt();
        const { status } = await call(`${operator.url}/datasets`, { headers: { "x-forwarded-for": write(i) } });
        if (status === 200) answered += 1;
      }
      if (answered > LIMIT) tally.breach(`${form}: ${answered} of ${TIMES} were answered`, answered - LIMIT);
    }
  },
};
