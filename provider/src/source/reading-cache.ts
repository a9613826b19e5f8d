import { LRUCache } from "lru-cache";
import type { AnswerText } from "./judge-answer.js";
import type { Reading } from "./source-failure.js";

/** The size that a reading counts as, in addition to its text. */
const BASE_SIZE = 1_024;

/** Readings are forgotten after this time, even if nobody asks for them. Their second is over by then. */
const KEPT_MS = 3_000;

/**
 * Keeps readings until the clock's second is over, and no more of them than fit. The parsed answer of a source file takes
 * up to thirty times the memory of its text, so the bound is on the texts.
 */
export class ReadingCache {
  readonly #kept: LRUCache<string, { readonly second: bigint; readonly reading: Reading<AnswerText> }>;

  /**
   * @param maxCharacters The most text that is kept, in characters. A longer answer is not kept.
   * @param now The clock, in whole seconds.
   */
  constructor(
    maxCharacters: number,
    private readonly now: () => bigint,
  ) {
    this.#kept = new LRUCache({
      maxSize: maxCharacters,
      sizeCalculation: ({ reading }) => BASE_SIZE + (reading.ok ? reading.value.text.length : 0),
      ttl: KEPT_MS,
      ttlAutopurge: true,
    });
  }

  /** How many readings are kept. */
  get count(): number {
    return this.#kept.size;
  }

  /** Returns a reading of this second. */
  get(id: string): Reading<AnswerText> | undefined {
    const kept = this.#kept.get(id);
    return kept?.second === this.now() ? kept.reading : undefined;
  }

  /** Keeps a reading that has just arrived. */
  keep(id: string, reading: Reading<AnswerText>): void {
    this.#kept.set(id, { second: this.now(), reading });
  }
}
