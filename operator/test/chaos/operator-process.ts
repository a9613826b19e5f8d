import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { operatorMain } from "../support/built-operator.js";

const START_MS = 120_000;

/** A real operator process, which can be ended and started again. */
export class OperatorProcess {
  #child: ChildProcess | null = null;
  #lines: string[] = [];
  /** Counts the starts. */
  starts = 0;
  isUp = false;

  constructor(
    private readonly configFile: string,
    private readonly port: number,
    private readonly privateKey: string,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Starts the operator. Faults in its first calls can make it exit; it is then started again.
   *
   * @throws When it does not answer in time.
   */
  async start(): Promise<void> {
    const env = { PATH: process.env.PATH, OPERATOR_PRIVATE_KEY: this.privateKey };
    const giveUpAt = Date.now() + START_MS;
    for (;;) {
      if (this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null) this.#spawn(env);
      if (await this.#isLive()) break;
      if (Date.now() > giveUpAt) throw new Error(`The operator does not start:\n${this.#lines.join("\n")}`);
      await delay(50);
    }
    this.starts++;
    this.isUp = true;
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.isUp = false;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  /** Returns the resident memory in bytes; 0 when no process runs or the system does not report it. */
  rss(): number {
    try {
      const status = readFileSync(`/proc/${this.#child?.pid}/status`, "utf8");
      return Number(status.match(/^VmRSS:\s+(\d+) kB$/m)?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  }

  #spawn(env: NodeJS.ProcessEnv): void {
    const child = spawn(process.execPath, [operatorMain(), "--config", this.configFile], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#lines = [...this.#lines, ...data.toString().split("\n").filter(Boolean)].slice(-200);
      });
    }
    this.#child = child;
  }

  #isLive(): Promise<boolean> {
    return fetch(`${this.url}/live`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
