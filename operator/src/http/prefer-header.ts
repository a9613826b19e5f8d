/**
 * Returns how long a caller prefers to wait (RFC 7240: `Prefer: wait=10`), in whole seconds.
 *
 * @param maxSeconds A longer wait is cut to this.
 * @returns Null if there is no such preference, or none that can be read.
 */
export function preferredWait(header: string | undefined, maxSeconds: number): number | null {
  for (const preference of (header ?? "").split(",")) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference)?.[1];
    if (seconds !== undefined) return Math.min(Number(seconds), maxSeconds);
  }
  return null;
}
