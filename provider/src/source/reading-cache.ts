import { LRUCache } from "lru-cache";
import type { AnswerText } from "./judge-answer.js";
import type { Reading } from "./source-failure.js";

/** The size that a reading counts as, in addition to its text. */
const BASE_SIZE = 1_024;

const CHECK_MS = 1_000;

/**
 * Keeps readings until the clock's second is over, and no more of them than fit. The parsed answer of a source file takes
 * up to thirty times the memory of its text, so the bound is on the texts.
 */
export class ReadingCache {
  readonly #now: () => bigint;
  readonly #kept: LRUCache<string, Reading<AnswerText>>;
  #second = -1n;
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param maxCharacters The most text that is kept, in characters. A longer answer is not kept.
   * @param now The clock, in whole seconds.
   */
  constructor(maxCharacters: number, now: () => bigint) {
    this.#now = now;
    this.#kept = new LRUCache({
      maxSize: maxCharacters,
      sizeCalculation: (reading) => BASE_SIZE + (reading.ok ? reading.value.text.length : 0),
    });
  }

  /** How many readings are kept. */
  get count(): number {
    return this.#kept.size;
  }

  /** Returns a reading of this second. */
  get(id: string): Reading<AnswerText> | undefined {
    return this.#second === this.#now() ? this.#kept.get(id) : undefined;
  }

  /** Keeps a reading that has just arrived. */
  keep(id: string, reading: Reading<AnswerText>): void {
    this.#forgetOld();
    this.#kept.set(id, reading);
    this.#timer ??= this.#check();
  }

  #forgetOld(): void {
    const second = this.#now();
    if (this.#second === second) return;
    this.#kept.clear();
    this.#second = second;
  }

  /** Looks again later, because without a further request nothing else would free the memory. */
  #check(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#forgetOld();
      this.#timer = this.#kept.size > 0 ? this.#check() : null;
    }, CHECK_MS).unref();
  }
}
