import { setTimeout as sleep } from "node:timers/promises";

/** Something that runs until it is closed. */
export interface Part {
  /** Resolves when it is gone, whoever ended it. */
  readonly exited: Promise<void>;
  /** Ends it: gently first, and after a while for good. */
  close(): Promise<void>;
}

/** A terminal's Ctrl-C reaches the parts as soon as it reaches the devnet: so long the end of a part waits for it. */
const SIGNAL_MS = 200;

/** Everything that the devnet started: it is closed once, all of it. What is owned later is closed at once. */
export class Parts {
  readonly #parts: Part[] = [];
  #closed: Promise<void> | undefined;

  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  /** Takes a part over. `onExit` is told when it ends by itself, not when it is closed here. */
  own<T extends Part>(part: T, onExit?: () => void): T {
    this.#parts.push(part);
    if (this.isClosing) void part.close();
    void part.exited.then(async () => {
      await sleep(SIGNAL_MS);
      if (!this.isClosing) onExit?.();
    });
    return part;
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
  }
}
