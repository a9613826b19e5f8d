import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const READY_MS = 20_000;
const CLOSE_MS = 5_000;
const POLL_MS = 50;

export interface ProcessOptions {
  readonly name: string;
  /** A JavaScript file of this repository, and its arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its output goes. */
  readonly logFile: string;
  /** What answers a GET with 200 once it is ready. */
  readonly readyUrl: string;
}

/** A Node process that the devnet started. */
export interface NodeProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process is gone, whoever ended it. */
  readonly exited: Promise<void>;
  /**
   * Resolves when it is ready.
   *
   * @throws When it ends or does not answer in time; the message names its log.
   */
  ready(): Promise<void>;
  /** Ends it: gently first, and after a while for good. */
  close(): Promise<void>;
}

/** Starts a Node process of its own. It shares the devnet's process group, so that a closed terminal ends it too. */
export async function startProcess(options: ProcessOptions): Promise<NodeProcess> {
  const log = openSync(options.logFile, "a");
  const child = spawn(process.execPath, options.args, {
    stdio: ["ignore", log, log],
    env: { ...process.env, ...options.env },
  });
  await once(child, "spawn");
  const exited = once(child, "exit").then(() => undefined);
  return {
    name: options.name,
    pid: child.pid as number,
    logFile: options.logFile,
    exited,
    ready: () => untilReady(options, exited),
    close: () => close(child, exited),
  };
}

async function close(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const isGone = await Promise.race([exited.then(() => true), sleep(CLOSE_MS, false, { ref: false })]);
  if (!isGone) child.kill("SIGKILL");
  await exited;
}

async function untilReady({ name, logFile, readyUrl }: ProcessOptions, exited: Promise<void>): Promise<void> {
  const end = Date.now() + READY_MS;
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
  });
  while (Date.now() < end && !hasExited) {
    if (await answersOk(readyUrl)) return;
    await sleep(POLL_MS);
  }
  const what = hasExited ? "ended while starting" : `did not answer at ${readyUrl} within ${READY_MS / 1000} s`;
  throw new Error(`${name} ${what}. Its log is ${logFile}.`);
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
