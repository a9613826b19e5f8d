import { setTimeout as sleep } from "node:timers/promises";

/** A process, or anything else that runs until it is closed. */
export interface RunningComponent {
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends it: gracefully first, and after a while by force. */
  close(): Promise<void>;
}

/** Ctrl-C reaches every process of the terminal at the same time, so an exit is reported only after this delay. */
const SIGNAL_MS = 200;

/** Everything that the devnet has started. All of it ends together. */
export class RunningComponents {
  readonly #components: RunningComponent[] = [];
  #closed: Promise<void> | undefined;

  /** Adds a component. `onExit` is called if it ends by itself. During the shutdown, it is closed at once. */
  add<T extends RunningComponent>(component: T, onExit?: () => void): T {
    this.#components.push(component);
    if (this.#closed) void component.close();
    void component.exited.then(async () => {
      await sleep(SIGNAL_MS);
      if (!this.#closed) onExit?.();
    });
    return component;
  }

  /** Ends all components, then the process. Failures during the shutdown are not reported, because it causes them. */
  async end(exitCode: number, message?: string): Promise<void> {
    if (message !== undefined && !this.#closed) console.error(message);
    this.#closed ??= Promise.all(this.#components.map((component) => component.close())).then(() => undefined);
    await this.#closed;
    process.exit(exitCode);
  }

  /** Ends everything on Ctrl-C or a closed terminal, and when npm, which started the devnet, is gone. */
  endWithTerminal(): void {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        console.log("\nStopping everything.");
        void this.end(0);
      });
    }
    // A killed npm does not pass signals on, so its disappearance has to be polled.
    if (process.env.npm_lifecycle_event === "start") onParentGone(() => void this.end(1));
  }
}

function onParentGone(action: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    action();
  }, 500);
  timer.unref();
}
