import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.js";
import { ChangingProvider } from "../network/changing-provider.js";

/** Longer than the number on disk is ahead. */
const SECONDS = 9;

export const fullDisks: Attack = {
  name: "full-disks",
  breach: "a provider that cannot write its lease signs a round that it decides again after it was killed",
  isFast: false,
  async run(network, tally) {
    const provider = await ChangingProvider.start(network, tally);
    await provider.start();
    await provider.askUntilReady();
    // To this process, every disk is full from now on.
    execFileSync("prlimit", ["--pid", String(provider.pids[0]), "--fsize=0"]);
    const rounds: number[] = [];
    for (let second = 0; second < SECONDS; second++) {
      rounds.push(provider.now());
      await provider.ask(...rounds.slice(-3));
      await sleep(1_000);
    }
    const told = provider.answers;
    await provider.ask(provider.now());
    if (provider.answers !== told) tally.breach("it signed a round that is later than the number on disk can be");
    await provider.kill(0);
    await provider.start();
    await provider.askUntilReady(...rounds.slice(-4));
  },
};
