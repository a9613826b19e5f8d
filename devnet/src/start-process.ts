import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { accountSourcesOf } from "@dataset-oracle/service/keys/find-accounts";
import { withDeadline } from "@dataset-oracle/service/process/context";
import type { RunningComponent } from "./shutdown.js";

/** A process that ends is reported at once, so this is for machines that are slow or busy. */
const READY_MS = 180_000;
const CLOSE_MS = 5_000;
const POLL_MS = 200;

/** How variables begin that the user may have set for an operator or provider of their own. They are not passed on. */
const FOREIGN_KEYS = ["OPERATOR", "PROVIDER"]
  .flatMap((name) => accountSourcesOf({ name, signs: "transactions" }))
  .flatMap(({ variables }) => variables.map((each) => each.replace(/_FILE$/, "")));

interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that it runs in; by default this process's. */
  readonly cwd?: string;
  /** The file that receives the output, which is discarded by default. */
  readonly logFile?: string;
  /** Polled until it resolves to true. */
  isReady(): Promise<boolean>;
}

/** A process that was started here. */
export interface Process extends RunningComponent {
  readonly name: string;
  readonly pid: number;
  /**
   * Waits until the process is ready.
   *
   * @throws If it ends or is not ready in time. The message has the last line of its log.
   */
  ready(): Promise<void>;
  /** Ends it at once, if it has not ended by itself. */
  kill(): void;
}

/**
 * Starts a process in the same process group, so that closing the terminal ends it too.
 *
 * @throws If another program answers in its place.
 */
export async function startProcess(options: ProcessOptions): Promise<Process> {
  const { name, command, args, cwd, logFile } = options;
  // Otherwise the other program's answers would make this process look ready, although it cannot listen.
  if (await options.isReady())
    throw new Error(`${name} cannot start: another program already answers on its port. Stop that program first.`);
  const log = logFile === undefined ? "ignore" : openSync(logFile, "a");
  const own = Object.entries(process.env).filter(([variable]) => !FOREIGN_KEYS.some((key) => variable.startsWith(key)));
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    stdio: ["ignore", log, log],
    env: { ...Object.fromEntries(own), ...options.env },
  });
  // A program that cannot be run emits an error instead, which the wait for "spawn" reports.
  const exited = once(child, "exit").then(
    () => undefined,
    () => undefined,
  );
  await once(child, "spawn");
  if (typeof log === "number") closeSync(log);

  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    pid: child.pid as number,
    exited,
    async ready() {
      const end = Date.now() + READY_MS;
      while (Date.now() < end && !isGone()) {
        if (await options.isReady()) return;
        await sleep(POLL_MS);
      }
      const what = isGone() ? "ended while starting" : `was not ready within ${READY_MS / 1000} s`;
      throw new Error(`${name} ${what}.${logFile === undefined ? "" : ` ${lastWords(logFile)}`}`);
    },
    kill: () => void child.kill("SIGKILL"),
    async close() {
      if (isGone()) return;
      child.kill("SIGTERM");
      const hasExited = await Promise.race([exited.then(() => true), sleep(CLOSE_MS, false, { ref: false })]);
      if (!hasExited) child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Returns true if a GET is answered with success. */
export async function respondsOk(url: string): Promise<boolean> {
  try {
    const response = await withDeadline(2_000, undefined, (signal) => fetch(url, { signal }));
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function lastWords(logFile: string): string {
  const last = readFileSync(logFile, "utf8").trimEnd().split("\n").at(-1);
  return `The last line of its log ${logFile} is: ${last}`;
}

/**
 * Waits until a process is ready.
 *
 * @throws As `ready` does. Then the process has been closed.
 */
export async function readyOrClosed<P extends Process>(child: P): Promise<P> {
  try {
    await child.ready();
  } catch (error) {
    await child.close();
    throw error;
  }
  return child;
}
