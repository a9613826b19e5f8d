import { LRUCache } from "lru-cache";
import type { AnswerText } from "./judge-answer.js";
import type { Reading } from "./source-failure.js";

/** The size that a reading counts as, in addition to its text. */
const BASE_SIZE = 1_024;

/** Readings are forgotten after this time, even if nobody asks for them. Their second is over by then. */
const KEPT_MS = 3_000;

/** A reading, and the second in which it arrived: it is shared until that second is over. */
export interface KeptReading {
  readonly second: bigint;
  readonly reading: Reading<AnswerText>;
}

/**
 * Makes a cache that keeps no more readings than fit. The parsed answer of a source file takes up to thirty times the
 * memory of its text, so the bound is on the texts.
 *
 * @param maxCharacters The most text that is kept, in characters. A longer answer is not kept.
 */
export const newReadingCache = (maxCharacters: number): LRUCache<string, KeptReading> =>
  new LRUCache({
    maxSize: maxCharacters,
    sizeCalculation: ({ reading }) => BASE_SIZE + (reading.ok ? reading.value.text.length : 0),
    ttl: KEPT_MS,
    ttlAutopurge: true,
  });
