import type { Candle } from "@dataset-oracle/protocol/http-schemas/history";
import { hexToBigInt } from "viem";
import type { PastUpdate } from "../chain/update-events.js";

/**
 * Summarizes the values of a median dataset by intervals that are counted from 1970.
 *
 * @param updates The newest first.
 * @param seconds The length of an interval.
 * @returns The newest first. Intervals without a value are left out.
 */
export function candlesOf(updates: readonly PastUpdate[], seconds: number): readonly Candle[] {
  const byStart = new Map<number, PastUpdate[]>();
  for (const update of updates) {
    const start = intervalAt(Number(update.timestamp), seconds);
    const known = byStart.get(start);
    if (known === undefined) byStart.set(start, [update]);
    else known.push(update);
  }
  return [...byStart].flatMap(([start, all]) => {
    const values = all.flatMap(({ status, value }) => (status === "OK" ? [hexToBigInt(value)] : []));
    const [close, open] = [values[0], values.at(-1)];
    if (close === undefined || open === undefined) return [];
    let [high, low] = [close, close];
    for (const value of values) {
      if (value > high) high = value;
      if (value < low) low = value;
    }
    return [{ start, open: `${open}`, high: `${high}`, low: `${low}`, close: `${close}`, updates: all.length }];
  });
}

/** Returns the start of the interval that contains a time; both in seconds since 1970. */
export const intervalAt = (time: number, seconds: number) => time - (time % seconds);
