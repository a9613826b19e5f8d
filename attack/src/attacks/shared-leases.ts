import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { ChangingProvider } from "../network/changing-provider.js";

const SECONDS = 14;

export const sharedLeases: Attack = {
  name: "shared-leases",
  breach: "two processes with one key and one folder, or one of which lost its folder, sign two values for a round",
  isFast: false,
  async run(network, tally) {
    const loseFolder = (provider: ChangingProvider) => rmSync(provider.lease, { recursive: true });
    for (const between of [() => {}, loseFolder]) {
      const provider = await ChangingProvider.start(network, tally);
      await provider.start();
      await provider.askUntilReady();
      between(provider);
      const second = provider.start();
      for (let time = 0; time < SECONDS; time++) {
        await provider.ask(provider.now(), provider.now() - 1);
        await sleep(1_000);
      }
      if (!(await second)) throw new Error("The second process did not start.");
      await provider.kill(0);
    }
  },
};
