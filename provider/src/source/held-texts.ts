/** Counts the characters of the texts that wait with jobs. Jobs that are made together often share their answers. */
export class HeldTexts {
  readonly #holders = new Map<string, number>();
  #characters = 0;

  /** The characters of all texts, each counted once. */
  get characters(): number {
    return this.#characters;
  }

  /** @param change 1 when a job begins to hold the texts, -1 when it no longer does. */
  count(texts: readonly string[], change: 1 | -1): void {
    for (const text of texts) {
      const before = this.#holders.get(text) ?? 0;
      const after = before + change;
      if (before === 0 || after === 0) this.#characters += change * text.length;
      if (after === 0) this.#holders.delete(text);
      else this.#holders.set(text, after);
    }
  }
}
