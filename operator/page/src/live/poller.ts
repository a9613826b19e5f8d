import type { Result } from "@dataset-oracle/protocol/result";
import type { ReadError } from "../operator-api";

/** Calls a function later. @returns A function that cancels the call. */
export type Later = (call: () => void, ms: number) => () => void;

const later: Later = (call, ms) => {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
};

/** Reads again and again, one reading at a time, and waits longer if the operator asks for it. */
export class Poller<T> {
  #cancel = () => {};
  #isBusy = false;
  #isStopped = false;

  constructor(
    private readonly read: () => Promise<Result<T, ReadError>>,
    private readonly everyMs: number,
    private readonly onRead: (got: Result<T, ReadError>) => void,
    private readonly isHidden: () => boolean,
    private readonly callLater: Later = later,
  ) {}

  /** Reads at once, unless a reading is under way or nobody looks, and from then on. */
  readonly poll = async (): Promise<void> => {
    this.#cancel();
    if (this.#isBusy || this.#isStopped || this.isHidden()) return;
    this.#isBusy = true;
    const got = await this.read();
    this.#isBusy = false;
    if (this.#isStopped) return;
    this.onRead(got);
    const wait = got.ok ? this.everyMs : Math.max(this.everyMs, 1000 * (got.error.retryAfter ?? 0));
    this.#cancel = this.callLater(this.poll, wait);
  };

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}
