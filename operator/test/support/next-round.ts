import { setTimeout as delay } from "node:timers/promises";
import { roundAt, roundStartMs } from "../../src/schedule/beat.js";

/** Waits for the next round, because requests of one round share their reports and a transaction. */
export const nextRound = () => delay(roundStartMs(roundAt(Date.now()) + 1n) - Date.now());
