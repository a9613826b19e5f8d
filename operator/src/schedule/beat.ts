/** A round lies this far behind the operator's clock, so that it is in the future for no provider and no block. */
const BEHIND_MS = 2_000;

/** Returns the round that a request at this time is about, in seconds since 1970. */
export function roundAt(nowMs: number): bigint {
  return BigInt(Math.floor((nowMs - BEHIND_MS) / 1_000));
}

/** Returns when requests begin to be about a round, in milliseconds since 1970. */
export function roundStartMs(round: bigint): number {
  return Number(round) * 1_000 + BEHIND_MS;
}

/**
 * Returns the round of the beat at this time, in seconds since 1970. All operators ask for these rounds, and none can choose
 * one that suits it.
 *
 * @param beatSeconds A whole number, 1 or more.
 */
export function beatAt(nowMs: number, beatSeconds: number): bigint {
  const round = roundAt(nowMs);
  return round - (round % BigInt(beatSeconds));
}
