/** A value is late, or stale, at an age above this many heartbeats: the margin is more than an update usually takes. */
export const LATE_AFTER_HEARTBEATS = 1.5;
