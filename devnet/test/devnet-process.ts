import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DevnetAddresses } from "@dataset-oracle/devnet/address-file";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { postDataRequest } from "./post-data-request.js";

/** A devnet in a process of its own. */
export interface Devnet extends DevnetAddresses {
  /** Its folder, as a path from the repository's root. */
  readonly folder: string;
  /** The simulated market's URL. */
  readonly market: string;
  readonly process: ChildProcess;
  /** Returns its output so far. */
  output(): string;
  /** Ends it as Ctrl-C does, and resolves with its exit code. */
  interrupt(): Promise<number | null>;
}

/** A busy machine needs this long at most. */
const READY_MS = 240_000;
/** The time limit of a hook that starts one. */
export const START_MS = READY_MS + 20_000;
const DEVNET = [process.execPath, join(ROOT, "devnet/dist/main.js")] as const;
/** Without `prestart`: a second build would replace the files that other tests are using. */
export const NPM_START = ["npm", "start", "--ignore-scripts", "--"] as const;

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

/** Starts a devnet and waits until it is ready, and its providers sign in time: their first answers take longest. */
export async function startDevnet(args: readonly string[], command: readonly string[] = DEVNET): Promise<Devnet> {
  const { child, output } = spawnDevnet(args, command);
  const end = Date.now() + READY_MS;
  while (!output().includes("The devnet is ready.")) {
    if (child.exitCode !== null || Date.now() > end) {
      child.kill("SIGTERM");
      throw new Error(`The devnet is not ready:\n${output()}`);
    }
    await sleep(50);
  }
  const port = (option: string) => args[args.indexOf(option) + 1] ?? "";
  const folder = join(".devnet", port("--chain-port"));
  const addresses = JSON.parse(readFileSync(join(ROOT, folder, "devnet.json"), "utf8")) as DevnetAddresses;
  const market = `http://127.0.0.1:${port("--market-port")}`;
  const devnet = { ...addresses, folder, market, process: child, output, interrupt: () => interrupt(child) };
  const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: false };
  for (const operator of devnet.operators) {
    while ((await postDataRequest({ operator }, request)).answer.reports?.length !== devnet.providers.length) {
      if (Date.now() > end) throw new Error(`The providers do not sign in time:\n${output()}`);
      await sleep(200);
    }
  }
  return devnet;
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

/** Returns a process and all its descendants, which Linux lists in /proc. */
export function family(pid: number) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, "utf8");
        const [, parent] = /^PPid:\s+(\d+)$/m.exec(status) ?? [];
        return [{ pid: Number(name), parent: Number(parent), name: /^Name:\s+(.+)$/m.exec(status)?.[1] }];
      } catch {
        // The process ended during the search.
        return [];
      }
    });
  const found = all.filter((one) => one.pid === pid);
  for (const member of found) found.push(...all.filter(({ parent }) => parent === member.pid));
  return found;
}

/** Returns the processes of the chain in a family: one, or none if it has not started. */
export const chainOf = (members: ReturnType<typeof family>) =>
  members.filter(({ name }) => name === "anvil").map(({ pid }) => pid);

async function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGINT");
    await once(child, "exit");
  }
  return child.exitCode;
}

/** Returns a text with the ports of a devnet. Documents speak of the default ports; the tests use free ones. */
export const withPortsOf = ({ chain, operator, market, folder }: Devnet, text: string) =>
  text
    .replaceAll("http://127.0.0.1:8080", operator.url)
    .replaceAll("http://127.0.0.1:8545", chain)
    .replaceAll("http://127.0.0.1:8600", market)
    .replaceAll(".devnet/8545/", `${folder}/`);
