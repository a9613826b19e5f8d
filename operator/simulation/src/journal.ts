import { createHash } from "node:crypto";
import { START_MS } from "./virtual-time.js";

export interface Violation {
  readonly kind: string;
  /** Virtual seconds since the start. */
  readonly atSeconds: number;
  readonly detail: string;
}

/** Everything that has happened in a simulated world, and what of it must not have. */
export class Journal {
  readonly violations: Violation[] = [];
  readonly counts: Record<string, number> = {};
  #events = 0;
  readonly #hash = createHash("sha256");
  readonly #reported = new Set<string>();

  /** @param onLine Called with every line of the trace. */
  constructor(private readonly onLine: (line: string) => void) {}

  get nowMs(): number {
    return Date.now() - START_MS;
  }

  /** The hash of everything that has happened. */
  get digest(): { readonly hash: string; readonly events: number } {
    return { hash: this.#hash.copy().digest("hex").slice(0, 16), events: this.#events };
  }

  trace(...parts: readonly unknown[]): void {
    const line = `${this.nowMs.toFixed(3)} ${parts.join(" ")}`;
    this.#hash.update(`${line}\n`);
    this.#events++;
    this.onLine(line);
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  /** Reports a violation, once for each id. */
  violate(kind: string, id: unknown, detail: string): void {
    const once = `${kind} ${id}`;
    if (this.#reported.has(once)) return;
    this.#reported.add(once);
    this.trace("VIOLATION", kind, detail);
    this.violations.push({ kind, atSeconds: Math.round(this.nowMs / 1000), detail });
  }
}
