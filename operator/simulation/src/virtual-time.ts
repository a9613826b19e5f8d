/**
 * Replaces what libraries take from outside: timers, clocks and randomness. This must be imported before any code of the
 * product, whose libraries then find the replacements where they look for Node's own.
 */

import { syncBuiltinESMExports } from "node:module";
import FakeTimers from "@sinonjs/fake-timers";

/** The time at which every simulation starts, in milliseconds since 1970: a whole second. */
export const START_MS = 1_800_000_000_000;

const realImmediate = setImmediate;
/** The real time, for measuring the simulation itself. */
export const realNow = performance.now.bind(performance);

let random: () => number = Math.random;

export const clock = FakeTimers.install({
  now: START_MS,
  loopLimit: Number.MAX_SAFE_INTEGER,
  // Promises and process.nextTick stay real: `turn` lets them run.
  toFake: [
    ...(["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"] as const),
    ...(["Date", "performance", "hrtime"] as const),
  ],
});
Math.random = () => random();
// Without this, `import { setTimeout } from "node:timers/promises"` keeps the real one.
syncBuiltinESMExports();

// viem loads this when a call fails: real input, which would end at a real time.
await import(new URL("utils/ccip.js", import.meta.resolve("viem")).href);

/** Seeds what libraries draw at random. */
export function seedLibraries(next: () => number): void {
  random = next;
}

/** Lets all promises and ticks run that can. */
export const turn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

/** Runs timers one by one until a time, in milliseconds since 1970. */
export async function runUntil(ms: number): Promise<void> {
  let isOver = false;
  setTimeout(
    () => {
      isOver = true;
    },
    Math.max(0, ms - Date.now()),
  );
  await turn();
  while (!isOver) {
    clock.next();
    await turn();
  }
}
