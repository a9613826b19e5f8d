/** The newest block that an endpoint has shown. */
export interface Head {
  readonly number: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

/** The state of one endpoint. Times are in milliseconds since 1970. */
export interface Health {
  /** The endpoint was found to be of the right chain, and has not failed since. */
  readonly isReady: boolean;
  /** The number of failures in a row. */
  readonly failures: number;
  /** Until then the endpoint is not used, unless no other is ready. */
  readonly quarantinedUntil: number;
  readonly head: Head | null;
}

/** A head is stale when it is further than this behind the best. */
export interface LagLimits {
  readonly maxHeadLagBlocks: number;
  readonly maxHeadLagSeconds: number;
}

const FIRST_QUARANTINE_MS = 1_000;
const LONGEST_QUARANTINE_MS = 60_000;
const MAX_FUTURE_SECONDS = 60;

export const UNCHECKED: Health = { isReady: false, failures: 0, quarantinedUntil: 0, head: null };

/** Each failure in a row doubles the quarantine, from a second to a minute. */
export function afterFailure({ failures, head }: Health, nowMs: number): Health {
  const quarantineMs = Math.min(FIRST_QUARANTINE_MS * 2 ** failures, LONGEST_QUARANTINE_MS);
  return { isReady: false, failures: failures + 1, quarantinedUntil: nowMs + quarantineMs, head };
}

/** @param head The block that an endpoint of the right chain has just shown. */
export function afterCheck(head: Head): Health {
  return { isReady: true, failures: 0, quarantinedUntil: 0, head };
}

/** A block that is more than a minute ahead of this machine's clock is not believed. */
export function isFromTheFuture({ timestamp }: Head, nowMs: number): boolean {
  return timestamp > nowMs / 1000 + MAX_FUTURE_SECONDS;
}

/** Selects the endpoints to read from, in the configured order: those that are ready and not stale. */
export function readableEndpoints<E extends { readonly health: Health }>(
  all: readonly E[],
  { maxHeadLagBlocks, maxHeadLagSeconds }: LagLimits,
): readonly E[] {
  const ready = all.filter(({ health }) => health.isReady);
  const heads = ready.flatMap(({ health }) => health.head ?? []);
  const bestNumber = Math.max(...heads.map(({ number }) => number));
  const bestTimestamp = Math.max(...heads.map(({ timestamp }) => timestamp));
  return ready.filter(({ health: { head } }) => {
    if (head === null) return false;
    return bestNumber - head.number <= maxHeadLagBlocks && bestTimestamp - head.timestamp <= maxHeadLagSeconds;
  });
}
