/** The time now, in milliseconds since 1970. */
export type Clock = () => number;

/** How far a round lies behind the clock that names it, so that no provider and no block sees it in the future. */
const BEHIND_MS = 2_000;

/** The round that a request names at a moment, in seconds since 1970. */
export function roundAt(nowMs: number): bigint {
  return BigInt(Math.floor((nowMs - BEHIND_MS) / 1000));
}

/** How long from a moment until requests name a round newer than `round`, in milliseconds; at least 0. */
export function msUntilRoundAfter(round: bigint, nowMs: number): number {
  return Math.max(0, (Number(round) + 1) * 1000 + BEHIND_MS - nowMs);
}
