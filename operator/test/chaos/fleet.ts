import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Address, keccak256, numberToHex, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { operatorMain } from "../support/built-operator.js";
import type { Chain } from "../support/chain.js";
import type { FaultProxy } from "../support/fault-proxy.js";

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

/** An operator beside one of the providers, with its own sender. */
export interface FleetOperator {
  readonly name: string;
  readonly sender: Address;
  readonly process: OperatorProcess;
}

export interface FleetOptions {
  readonly seed: number;
  readonly size: number;
  readonly chain: Chain;
  readonly dataset: Address;
  readonly providers: readonly { readonly address: Address }[];
  readonly rpcProxies: readonly FaultProxy[];
  readonly providerProxies: readonly FaultProxy[];
  /** The operators keep these keys fresh without requests. */
  readonly feeds: readonly string[];
  readonly heartbeatSeconds: number;
  readonly stageMs: number;
  readonly beatSeconds: number;
  /** The folder into which their configuration is written. */
  readonly folder: string;
}

/** Starts an operator for each of the first `size` providers. */
export async function startFleet(options: FleetOptions): Promise<readonly FleetOperator[]> {
  const { seed, size, folder, dataset, chain } = options;
  const financial = { address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [] };
  writeFileSync(join(folder, "42.json"), JSON.stringify({ chainId: 42, datasets: { financial } }));
  const keys = Array.from({ length: size }, (_, i) => keccak256(numberToHex(seed * 100 + i + 1, { size: 32 })));
  const senders = keys.map((key) => privateKeyToAccount(key).address);
  for (const address of senders) await chain.client.setBalance({ address, value: parseEther("1000000") });
  const ports = await Promise.all(keys.map(() => freePort()));
  return Promise.all(
    keys.map(async (key, i) => {
      const port = ports[i] ?? 0;
      const process = new OperatorProcess(writeConfig(options, port, i), port, key);
      await process.start();
      return { name: `operator ${i}`, sender: senders[i] ?? "0x", process };
    }),
  );
}

function writeConfig(options: FleetOptions, port: number, i: number): string {
  const { dataset, providers, rpcProxies, providerProxies, folder, feeds } = options;
  const { size, heartbeatSeconds, stageMs, beatSeconds } = options;
  const policy = { heartbeatSeconds, deviationBps: 1_000_000, minIntervalSeconds: heartbeatSeconds };
  const network = {
    deployment: "42.json",
    rpcUrls: rpcProxies.map(({ url }) => url),
    providers: providers.map(({ address }, index) => ({ address, url: providerProxies[index]?.url })),
    feeds: [{ dataset, keys: feeds, ...policy }],
    sender: providers[i]?.address,
    members: providers.slice(0, size).map(({ address }) => address),
    ...{ stageMs, beatSeconds },
    ...{ gasPerHour: 10 ** 15, gasPerHourForNewKeys: 10 ** 15, gasPerHourForFeeds: 10 ** 15 },
    ...{ rpcTimeoutMs: 1_500, rpcPollMs: 300, providerTimeoutMs: 2_500, graceMs: 200, stuckSeconds: 5 },
  };
  const limits = { requestsPerMinute: 1_000_000, broadcastsPerMinute: 1_000_000, newKeysPerMinute: 100_000 };
  const path = join(folder, `operator-${i}.json`);
  writeFileSync(path, JSON.stringify({ port, metricsPort: 0, ...limits, networks: [network] }));
  return path;
}

/** Megabytes of the processes. The medians are of those that run at the end. */
export interface Memory {
  readonly peak: number;
  readonly midRunMedian: number;
  readonly finalMedian: number;
}

/** Samples the memory of the processes. */
export class MemoryWatch {
  readonly #seen: { readonly name: string; readonly starts: number; readonly bytes: number }[] = [];

  constructor(private readonly operators: readonly FleetOperator[]) {}

  sample(): void {
    for (const { name, process } of this.operators) {
      if (process.isUp) this.#seen.push({ name, starts: process.starts, bytes: process.rss() });
    }
  }

  report(): Memory {
    const lives = this.operators.map(({ name, process }) =>
      this.#seen.filter((one) => one.name === name && one.starts === process.starts).map(({ bytes }) => bytes),
    );
    const part = (from: number, to: number) => (all: readonly number[]) =>
      all.slice(Math.floor(all.length * from), Math.ceil(all.length * to));
    return {
      peak: megabytes(Math.max(0, ...this.#seen.map(({ bytes }) => bytes))),
      midRunMedian: megabytes(median(lives.flatMap(part(0.4, 0.6)))),
      finalMedian: megabytes(median(lives.flatMap(part(0.8, 1)))),
    };
  }
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
