/** How far a round may lie behind the provider's clock to be signed for the first time, in seconds. */
export const MAX_BEHIND = 10n;

/** How far a round may lie ahead of the provider's clock, in seconds, because clocks differ. */
export const MAX_AHEAD = 2n;

/** The usual age of the rounds that operators ask for, in seconds. */
export const USUAL_AGE = 2n;

/** The position of a round relative to the window in which it may be signed for the first time. */
export type WindowVerdict = "in_window" | "too_old" | "in_future";

/**
 * Compares a round with the signing window.
 *
 * @param round In seconds since 1970.
 * @param now The provider's clock, in whole seconds.
 */
export function judgeWindow(round: bigint, now: bigint): WindowVerdict {
  if (round < now - MAX_BEHIND) return "too_old";
  return round > now + MAX_AHEAD ? "in_future" : "in_window";
}
