import type { Attack } from "../attack.js";
import { ChangingProvider } from "../network/changing-provider.js";

const LIVES = 4;

export const killedProviders: Attack = {
  name: "killed-providers",
  breach: "a provider that is killed while it signs says something else about the same round afterwards",
  isFast: false,
  async run(network, tally) {
    const provider = await ChangingProvider.start(network, tally);
    await provider.start();
    for (let life = 0; life < LIVES; life++) {
      await provider.askUntilReady();
      await provider.startAgain(...(await provider.kill(10 * life)));
    }
    if (provider.answers < LIVES) throw new Error("The provider decided too little.");
  },
};
