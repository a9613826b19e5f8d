/** A value is late, or stale, if its age exceeds this many heartbeats: by more than an update usually takes. */
export const LATE_AFTER_HEARTBEATS = 1.5;
