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
