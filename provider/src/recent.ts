/** The latest of what was made, so that it need not be made again. The oldest gives way. */
export class Recent<T> {
  readonly #capacity: number;
  readonly #made = new Map<string, Promise<T>>();

  /** @param capacity The most that is kept. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** What was made for an id, or is being made. */
  get(id: string): Promise<T> | undefined {
    return this.#made.get(id);
  }

  /** Makes it, unless it is there. What fails is not kept. */
  getOrMake(id: string, make: () => Promise<T>): Promise<T> {
    const before = this.#made.get(id);
    if (before !== undefined) return before;
    const begun = make();
    this.#made.set(id, begun);
    begun.catch(() => {
      // It may have given way to another meanwhile.
      if (this.#made.get(id) === begun) this.#made.delete(id);
    });
    if (this.#made.size > this.#capacity) this.#made.delete(this.#made.keys().next().value as string);
    return begun;
  }
}
