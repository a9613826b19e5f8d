import { expect, test } from "vitest";
import { MODEL } from "./model.js";
import { SeededRandom } from "./random.js";
import { HELD_TURNS, simulateHeldTurns } from "./simulate-held-turns.js";

test.each(HELD_TURNS)("$dishonest of $members members cannot hold up the others' turns: no value is too old", (row) => {
  for (const blockMs of [2_000, 12_000]) {
    const { oldest, bound } = simulateHeldTurns(MODEL, row, blockMs, new SeededRandom(1));
    expect(oldest).toBeLessThanOrEqual(bound);
  }
});
