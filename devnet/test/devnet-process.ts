import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address, Hex } from "viem";

/** A provider or an operator in `devnet.json`. */
interface ServiceAddress {
  readonly url: string;
  readonly address: Address;
  readonly pid: number;
  /** The shell command that starts it again. */
  readonly command: string;
}

/** The content of `devnet.json`. */
export interface Addresses {
  readonly chain: string;
  /** The only or the first one. */
  readonly operator: ServiceAddress;
  readonly operators: readonly ServiceAddress[];
  readonly dataset: Address;
  readonly webOracle: {
    readonly numbers: Address;
    readonly words: Address;
    readonly registry: Address;
    readonly examples: readonly {
      readonly name: string;
      readonly dataset: Address;
      readonly key: string;
      readonly keyHex: Hex;
    }[];
  };
  readonly queryPrice: string;
  readonly lens: Address;
  readonly consumer: Address;
  readonly providers: readonly ServiceAddress[];
}

/** A devnet in a process of its own. */
export interface Devnet extends Addresses {
  readonly process: ChildProcess;
  /** Returns its output so far. */
  output(): string;
  /** Ends it as Ctrl-C does, and resolves with its exit code. */
  interrupt(): Promise<number | null>;
}

const READY_MS = 120_000;
const DEVNET = [process.execPath, join(ROOT, "devnet/dist/main.js")] as const;

/** Returns options with free ports. */
export async function freePortOptions(): Promise<string[]> {
  const [chain, market] = [await freePort(), await freePort()];
  // Four operators and four providers have ports in a row.
  const [operator, provider] = [await freePort(4), await freePort(4)];
  return [
    ...["--chain-port", String(chain), "--operator-port", String(operator)],
    ...["--market-port", String(market), "--provider-port", String(provider)],
  ];
}

/** Starts a devnet and waits until it is ready. */
export async function startDevnet(args: readonly string[], command: readonly string[] = DEVNET): Promise<Devnet> {
  const { child, output } = spawnDevnet(args, command);
  const end = Date.now() + READY_MS;
  while (!output().includes("The devnet is ready.")) {
    if (child.exitCode !== null || Date.now() > end) {
      child.kill("SIGTERM");
      throw new Error(`The devnet is not ready:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const folder = join(ROOT, ".devnet", args[args.indexOf("--chain-port") + 1] ?? "8545");
  const addresses = JSON.parse(readFileSync(join(folder, "devnet.json"), "utf8")) as Addresses;
  return { ...addresses, process: child, output, interrupt: () => interrupt(child) };
}

/** Runs the devnet until it exits. */
export async function runDevnetToEnd(args: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  const { child, output } = spawnDevnet(args, DEVNET);
  await once(child, "exit");
  return { exitCode: child.exitCode, output: output() };
}

/** Starts a devnet without waiting until it is ready. */
export function spawnDevnet(args: readonly string[], [command = "", ...first]: readonly string[] = DEVNET) {
  const child = spawn(command, [...first, ...args], { cwd: ROOT });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return { child, output: () => text };
}

/** Returns true if a process exists. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends a signal to a process, unless an earlier try of the test has ended it. */
export function killIfRunning(pid: number, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal);
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGINT");
    await once(child, "exit");
  }
  return child.exitCode;
}

/** Returns a text with the ports of a devnet. Documents speak of the default ports; the tests use free ones. */
export const withPortsOf = ({ chain, operator }: Addresses, text: string) =>
  text
    .replaceAll("http://127.0.0.1:8080", operator.url)
    .replaceAll("http://127.0.0.1:8545", chain)
    .replaceAll(".devnet/8545/", `.devnet/${new URL(chain).port}/`);
