interface Window {
  count: number;
  /** In milliseconds, of the same clock as the requests'. */
  readonly endsAt: number;
}

/** How many requests each caller has made, in a window that begins with its first one. */
export class RequestCounts {
  /** In the order in which the windows end. */
  readonly #windows = new Map<string, Window>();

  /** @param maxCallers How many are counted at a time: with one more, the one whose window ends first begins anew. */
  constructor(
    private readonly windowMs: number,
    private readonly maxCallers: number,
  ) {}

  get size(): number {
    return this.#windows.size;
  }

  /**
   * Counts one more request.
   *
   * @param nowMs Of a clock that never goes back.
   */
  add(caller: string, nowMs: number): Readonly<Window> {
    const known = this.#windows.get(caller);
    if (known !== undefined && nowMs < known.endsAt) {
      known.count++;
      return known;
    }
    this.#windows.delete(caller);
    this.#makeRoom(nowMs);
    const opened = { count: 1, endsAt: nowMs + this.windowMs };
    this.#windows.set(caller, opened);
    return opened;
  }

  #makeRoom(nowMs: number): void {
    for (const [caller, { endsAt }] of this.#windows) {
      if (nowMs < endsAt && this.#windows.size < this.maxCallers) return;
      this.#windows.delete(caller);
    }
  }
}
