/**
 * How far a round may lie behind the provider's clock when its value is read for the first time, in seconds. Whoever
 * asks first chooses the moment, so a longer window would let a stranger make each provider read a different price.
 */
export const MAX_ROUND_AGE = 5n;

/** How far it may lie behind when the sources have answered and the value is decided, in seconds. */
export const MAX_ROUND_AGE_AT_DECISION = 12n;

/**
 * How far a round may lie ahead of the provider's clock, in seconds, because clocks differ. Its value is read only once
 * the round begins.
 */
export const MAX_ROUND_AHEAD = 2n;

/** The usual age of the rounds that operators ask for, in seconds. */
export const USUAL_AGE = 2n;

/** The position of a round relative to the window in which it may be signed for the first time. */
type WindowPosition = "in_window" | "too_old" | "in_future";

/**
 * Compares a round with the signing window.
 *
 * @param round In seconds since 1970.
 * @param now The provider's clock, in whole seconds.
 * @param maxAge In seconds.
 */
export function comparedToWindow(round: bigint, now: bigint, maxAge: bigint): WindowPosition {
  if (round < now - maxAge) return "too_old";
  return round > now + MAX_ROUND_AHEAD ? "in_future" : "in_window";
}
