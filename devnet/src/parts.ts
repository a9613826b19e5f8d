import { setTimeout as sleep } from "node:timers/promises";

/** Something that runs until it is closed. */
export interface Part {
  readonly exited: Promise<void>;
  close(): Promise<void>;
}

/** A terminal's Ctrl-C reaches the parts as soon as it reaches the devnet: so long the end of a part waits for it. */
const SIGNAL_MS = 200;

/** Everything that the devnet started: it is closed once, all of it, in the reverse order of its start. */
export class Parts {
  readonly #parts: Part[] = [];
  #closed: Promise<void> | undefined;

  /** Takes a part over. `onExit` is told when it ends by itself, not when it is closed here. */
  own<T extends Part>(part: T, onExit?: () => void): T {
    this.#parts.unshift(part);
    void part.exited.then(async () => {
      await sleep(SIGNAL_MS);
      if (!this.#closed) onExit?.();
    });
    return part;
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#parts.map((part) => part.close())).then(() => undefined);
    return this.#closed;
  }
}
