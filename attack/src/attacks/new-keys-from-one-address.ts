import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import type { Attack } from "../attack.js";
import { buildSpec, variable } from "../network/build-spec.js";

const HOST = "keys.attack.example";
const KEYS = 60;
const HONEST = 3;

export const newKeysFromOneAddress: Attack = {
  name: "new-keys-from-one-address",
  breach: "one caller's new keys use up the gas budget, so that another caller's are refused",
  isFast: false,
  async run(network, tally) {
    network.internet.serve(HOST, (_, response) => response.end('{"value":1}'));
    const source = { url: `https://${HOST}/{v}` };
    const hash = await network.publishOne(
      buildSpec("many keys", source, { variables: [variable("v", "alphanumeric")] }),
    );
    // High rate limits, so that the attack hits the gas budget.
    const operator = await network.startOperator({}, { broadcastsPerMinute: 1_000, requestsPerMinute: 1_000 });
    const ask = (name: string, from: string) =>
      network.update(operator, { dataset: network.numbers, key: network.key(hash, name), broadcast: true }, { from });
    const attacker = network.caller();
    await forEachConcurrently(Array.from({ length: KEYS }), 4, async (_, i) => {
      tally.attempt();
      await ask(`attack${i}`, attacker);
    });
    for (let i = 0; i < HONEST; i++) {
      const { status, text } = await ask(`honest${i}`, network.caller());
      if (status !== 200) tally.breach(`an honest caller is answered ${status}: ${text}`);
    }
  },
};
