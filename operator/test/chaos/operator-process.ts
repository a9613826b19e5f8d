import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "dist", "main.js");
const START_MS = 60_000;

/** A real operator process, which can be killed and started again. */
export interface OperatorProcess {
  /** Counts the starts. */
  readonly life: number;
  readonly isUp: boolean;
  /** Of the present process, in bytes; 0 when there is none. */
  rss(): number;
  /** Kills it, and starts the next. */
  kill(): Promise<void>;
  close(): Promise<void>;
  /** The log's last lines. */
  tail(): string;
}

export async function startOperatorProcess(configFile: string, port: number, key: string): Promise<OperatorProcess> {
  let child: ChildProcess;
  let lines: string[] = [];
  const state = { life: 0, isUp: false };

  async function start(): Promise<void> {
    const env = { PATH: process.env.PATH, OPERATOR_PRIVATE_KEY: key };
    child = spawn(process.execPath, [MAIN, "--config", configFile], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        lines = [...lines, ...data.toString().split("\n").filter(Boolean)].slice(-200);
      });
    }
    const giveUpAt = Date.now() + START_MS;
    while (!(await isLive(port))) {
      if (child.exitCode !== null) return start();
      if (Date.now() > giveUpAt) throw new Error(`The operator does not start:\n${lines.join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    state.life++;
    state.isUp = true;
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    state.isUp = false;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  await start();
  return {
    get life() {
      return state.life;
    },
    get isUp() {
      return state.isUp;
    },
    rss: () => (child.pid === undefined || child.exitCode !== null ? 0 : rssOf(child.pid)),
    async kill() {
      await end("SIGKILL");
      await start();
    },
    close: () => end("SIGTERM"),
    tail: () => lines.join("\n"),
  };
}

async function isLive(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/live`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** In bytes; 0 where the system does not tell. */
function rssOf(pid: number): number {
  try {
    const kilobytes = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
