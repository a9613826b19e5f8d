import { expect, it } from "vitest";
import { type KillTally, killAndRestart } from "./support/kill-and-restart.js";

/** `npm run crash` runs the long form, by `--mode long`; `CRASH_TIMES` changes the number of kills. */
const TIMES = Number(process.env.CRASH_TIMES ?? (process.env.MODE === "long" ? 200 : 2));

const valuesOf = ({ told }: KillTally) => new Set(told.values()).size;
const sentence = (tally: KillTally) =>
  `${tally.kills} kills, with ${tally.leastInFlight} requests or more in flight. ${tally.answers} answers with ` +
  `${valuesOf(tally)} different values; ${tally.refusedAgain} questions were asked again after a kill and refused.`;

it(
  `a provider that is killed ${TIMES} times never signs two different values for one round`,
  async () => {
    const tally = await killAndRestart(TIMES, (soFar) => {
      if (soFar.kills % 20 === 0) console.log(sentence(soFar));
    });
    console.log(sentence(tally));
    expect(tally.kills).toBe(TIMES);
    expect(tally.leastInFlight).toBeGreaterThanOrEqual(8);
    expect(tally.refusedAgain).toBeGreaterThan(TIMES);
    // Each life reads other prices.
    expect(valuesOf(tally)).toBeGreaterThan(TIMES);
  },
  60_000 + TIMES * 30_000,
);
