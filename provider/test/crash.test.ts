import { expect, it } from "vitest";
import { type KillTally, killAndRestart } from "./support/kill-and-restart.js";

/** `npm run crash` runs the long form, by `--mode long`; `CRASH_TIMES` changes the number of kills. */
const TIMES = Number(process.env.CRASH_TIMES ?? (process.env.MODE === "long" ? 1_000 : 12));

const sentence = ({ kills, betweenStoreAndAnswer, undelivered, leastInFlight, answers, values, repeated }: KillTally) =>
  `${kills} kills, with ${leastInFlight} requests or more in flight: ${betweenStoreAndAnswer} fell between store and ` +
  `answer (${undelivered} decisions that no caller had been told). ${answers} answers with ${values} different values, ${repeated} of them asked for again.`;

it(
  `a provider that is killed ${TIMES} times never signs two different values for one round`,
  async () => {
    const tally = await killAndRestart(TIMES, (soFar) => {
      if (soFar.kills % 100 === 0) console.log(sentence(soFar));
    });
    console.log(sentence(tally));
    expect(tally.kills).toBe(TIMES);
    expect(tally.leastInFlight).toBeGreaterThanOrEqual(8);
    expect(tally.repeated).toBeGreaterThan(TIMES);
    // Each life reads other prices.
    expect(tally.values).toBeGreaterThan(TIMES);
    // The moment that all this is about must have been hit.
    expect(tally.betweenStoreAndAnswer).toBeGreaterThan(0);
  },
  60_000 + TIMES * 10_000,
);
