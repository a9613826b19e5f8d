import type { Clock } from "./clock.js";

/** The data points of which something was found out, for a while. */
export class RememberedKeys {
  /** When each was found out, in milliseconds since 1970; the oldest first. */
  readonly #foundAt = new Map<string, number>();

  /** @param maxSize How many are remembered: foreign choose the keys. */
  constructor(
    private readonly clock: Clock,
    private readonly rememberMs: number,
    private readonly maxSize: number,
  ) {}

  add(id: string): void {
    this.#foundAt.delete(id);
    this.#foundAt.set(id, this.clock());
    const [oldest] = this.#foundAt.keys();
    if (this.#foundAt.size > this.maxSize && oldest !== undefined) this.#foundAt.delete(oldest);
  }

  has(id: string): boolean {
    const foundAt = this.#foundAt.get(id);
    return foundAt !== undefined && this.clock() - foundAt < this.rememberMs;
  }
}
