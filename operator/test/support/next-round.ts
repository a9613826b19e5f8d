import { setTimeout as delay } from "node:timers/promises";
import { msUntilRoundAfter, roundAt } from "../../src/schedule/beat.js";

/** Waits for the next round, because requests of one round share their reports and a transaction. */
export const nextRound = () => delay(msUntilRoundAfter(roundAt(Date.now()), Date.now()));
