/** Timers fire at once if their time is longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A signal that ends after a time, or with the caller's own. It needs no more of a runtime than React Native has, whose
 * signals know neither `any` nor `timeout`, and have no reasons.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #abort = () => this.#controller.abort();
  #isOver = false;

  /**
   * @param ms From now, in milliseconds.
   * @param caller The signal of the caller.
   */
  constructor(
    ms: number,
    private readonly caller?: AbortSignal,
  ) {
    this.#timer = setTimeout(
      () => {
        this.#isOver = true;
        this.#abort();
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    caller?.addEventListener("abort", this.#abort);
    if (caller?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Throws the reason of the caller's signal if that was aborted. */
  throwIfAborted(): void {
    if (this.caller?.aborted) throw reasonOf(this.caller);
  }

  /** Frees the timer, when what it bounds has ended. */
  clear(): void {
    clearTimeout(this.#timer);
    this.caller?.removeEventListener("abort", this.#abort);
  }
}

/** Returns why a signal was aborted. */
export const reasonOf = ({ reason }: AbortSignal): unknown =>
  reason ?? Object.assign(new Error("The operation was aborted."), { name: "AbortError" });
