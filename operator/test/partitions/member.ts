import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  EXCHANGES as ALL_EXCHANGES,
  EXCHANGE_ORIGINS,
  type Exchange,
  marketRedirects,
} from "@dataset-oracle/devnet/exchange-origins";
import { type Process, respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address, Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Node } from "../../src/peers/node-list.js";
import type { Host } from "./network-namespaces.js";

const MARKET_PORT = 8600;
const PROVIDER_PORT = 8601;
const NODE_PORT = 8080;
/** Two exchanges that answer for all pairs at once are enough: their reading is not what is tested. */
const EXCHANGES: readonly Exchange[] = ["kraken", "bitfinex"];

/** The settings that all members of a network share. */
export interface SharedSettings {
  readonly folder: string;
  readonly subnet: string;
  readonly commandIn: (host: Host, command: readonly string[]) => readonly string[];
  /** The part of a node's configuration that is the same for all. */
  readonly network: object;
}

/** The settings that differ between the starts of a member's node. */
export interface NodeOptions {
  readonly rpcUrl: string;
  readonly peers: readonly Node[];
  readonly providers: readonly { readonly address: Address; readonly url: string }[];
  /** How far the clock of node and provider is ahead, in milliseconds. */
  readonly skewMs?: number;
}

/** A member of the committee, on a host of its own: a market, the provider that reads it, and the node beside it. */
export class Member {
  readonly provider: PrivateKeyAccount;
  readonly submitter: PrivateKeyAccount;
  readonly #processes: { market?: Process; provider?: Process; node?: Process } = {};

  constructor(
    readonly index: number,
    readonly host: Host,
    /** The provider's key and the submitter's. */
    private readonly keys: readonly [Hex, Hex],
    private readonly shared: SharedSettings,
  ) {
    this.provider = privateKeyToAccount(keys[0]);
    this.submitter = privateKeyToAccount(keys[1]);
  }

  get providerUrl(): string {
    return `http://${this.host.address}:${PROVIDER_PORT}`;
  }

  get nodeUrl(): string {
    return `http://${this.host.address}:${NODE_PORT}`;
  }

  get peer(): Node {
    return { provider: this.provider.address, url: this.nodeUrl, submitter: this.submitter.address };
  }

  /** Starts everything, and waits until it is ready. */
  async start(options: NodeOptions): Promise<void> {
    const market = this.#spawn("market", [
      "devnet/dist/simulated-market/main.js",
      "--port",
      String(MARKET_PORT),
      "--seed",
      "42",
    ]);
    this.#processes.market = await market;
    await Promise.all([this.startProvider(options.skewMs), this.startNode(options)]);
  }

  async startProvider(skewMs = 0): Promise<void> {
    const { folder, subnet } = this.shared;
    const redirects = marketRedirects(`http://127.0.0.1:${MARKET_PORT}`);
    const config = this.#write("provider", {
      ...{ host: "0.0.0.0", port: PROVIDER_PORT, metricsPort: 0 },
      deployments: ["42.json"],
      database: join(folder, `provider-${this.index}`),
      excludedSources: ALL_EXCHANGES.filter((name) => !EXCHANGES.includes(name)),
      redirectedOrigins: Object.fromEntries(
        EXCHANGES.map((name) => [EXCHANGE_ORIGINS[name], redirects[EXCHANGE_ORIGINS[name]]]),
      ),
      operators: [subnet],
      operatorRequestsPerMinute: 1_000_000,
    });
    const env = { PROVIDER_PRIVATE_KEY: this.keys[0] };
    const isReady = () => respondsOk(`${this.providerUrl}/ready`);
    this.#processes.provider = await this.#spawn("provider", ["provider/dist/main.js", "--config", config], {
      ...{ env, isReady, skewMs },
    });
    await this.#processes.provider.ready();
  }

  async startNode({ rpcUrl, peers, providers, skewMs = 0 }: NodeOptions): Promise<void> {
    const config = this.#write("node", {
      ...{ host: "0.0.0.0", port: NODE_PORT, metricsPort: 0 },
      networks: [{ deployment: "42.json", rpcUrls: [rpcUrl], peers, providers, ...this.shared.network }],
    });
    const env = { OPERATOR_PRIVATE_KEY: this.keys[1] };
    const isReady = () => respondsOk(`${this.nodeUrl}/datasets`);
    this.#processes.node = await this.#spawn("node", ["operator/dist/main.js", "--config", config], {
      ...{ env, isReady, skewMs },
    });
    await this.#processes.node.ready();
  }

  /** Ends a process as a crash does. */
  async kill(name: "provider" | "node"): Promise<void> {
    const process_ = this.#processes[name];
    if (process_ === undefined) return;
    process.kill(process_.pid, "SIGKILL");
    await process_.exited;
    delete this.#processes[name];
  }

  async #spawn(
    name: "market" | "provider" | "node",
    [main = "", ...args]: readonly string[],
    { env = {}, isReady = async () => false, skewMs = 0 }: SpawnOptions = {},
  ): Promise<Process> {
    const skew = skewMs === 0 ? [] : ["--import", shiftedClock(skewMs)];
    const line = this.shared.commandIn(this.host, [process.execPath, ...skew, join(ROOT, main), ...args]);
    const [command = "", ...rest] = line;
    const logFile = join(this.shared.folder, `${name}-${this.index}.log`);
    return startProcess({ name: `${name} ${this.index}`, command, args: rest, env, logFile, isReady });
  }

  #write(name: string, config: object): string {
    mkdirSync(this.shared.folder, { recursive: true });
    const path = join(this.shared.folder, `${name}-${this.index}.json`);
    writeFileSync(path, JSON.stringify(config));
    return path;
  }
}

interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Without it, nobody waits for the process. */
  readonly isReady?: () => Promise<boolean>;
  readonly skewMs?: number;
}

/** Returns a module that shifts the clock of the process that imports it first. */
function shiftedClock(ms: number): string {
  const source = `const now = Date.now; Date.now = () => now() + ${ms};`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
