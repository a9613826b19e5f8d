import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { ChangingProvider } from "../network/changing-provider.js";

/** How far the clock is off in each life, in seconds. The far one comes twice, and between them it is corrected. */
const BETWEEN_LIVES = [0, -5, 3_600, 0, 3_600];
/** How the clock is set while the provider runs. After more than ten minutes, it forgets what it signed. */
const WHILE_RUNNING = [700, 0, -20, -700, 0];

export const movedClocks: Attack = {
  name: "moved-clocks",
  breach: "a provider whose clock is moved, between two lives or while it runs, says something else about a round",
  isFast: false,
  async run(network, tally) {
    const running = await ChangingProvider.start(network, tally);
    await running.start();
    await running.askUntilReady();
    const signed = [running.now() - 1];
    for (const offset of WHILE_RUNNING) {
      running.setClock(offset);
      await sleep(100);
      signed.push(running.now() - 1, running.now());
      await running.ask(...signed);
    }
    await running.kill(0);

    const restarted = await ChangingProvider.start(network, tally);
    let asked: number[] = [];
    for (const offset of BETWEEN_LIVES) {
      await restarted.start(offset);
      await restarted.askUntilReady(...asked);
      asked = [...asked, ...(await restarted.kill(5))].slice(-6);
    }
    if (Math.min(running.answers, restarted.answers) === 0) throw new Error("A provider decided nothing.");
  },
};
