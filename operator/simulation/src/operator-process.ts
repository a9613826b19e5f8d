import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { createContext } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address, Hex, LocalAccount } from "viem";
import { buildOperatorApp } from "../../dist/app.js";
import { loadOperatorConfig, type NetworkSettings, type OperatorConfig } from "../../dist/config.js";
import { Operator } from "../../dist/operator.js";
import { checkSigners } from "../../dist/transactions/accounts.js";
import { type HttpExchange, SimulatedConnections } from "./network.js";

/** One process, from its start until it is killed or stopped. */
export interface Life {
  readonly id: string;
  readonly operator: OperatorMachine;
  /** False once it was killed or has stopped: nothing of it reaches the outside any more, and nothing reaches it. */
  isAlive: boolean;
  readonly closing: AbortController;
  readonly context: ReturnType<typeof createContext>;
  app: Awaited<ReturnType<typeof buildOperatorApp>> | null;
  networks: Operator["networks"] | null;
  startedAt: number;
}

/** A log line, as far as it is looked at. */
export interface LoggedTrouble {
  /** 40 for a warning, 50 for an error. */
  readonly level: number;
  readonly msg: string;
  readonly code?: string;
  /** The keys that it is about. */
  readonly keys?: readonly Hex[];
}

export interface MachineOptions {
  readonly index: number;
  readonly chainId: number;
  readonly dataset: Address;
  readonly members: readonly Address[];
  readonly endpoints: number;
  /** Whom it stands for; null if it is alone. */
  readonly member: Address | null;
  /** Of its senders. */
  readonly privateKeys: readonly Hex[];
  readonly settings: Partial<NetworkSettings>;
  /** The operator's own settings, which no network has. */
  readonly limits: Partial<OperatorConfig>;
  /** How far its clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly random: () => number;
  /** Answers what its processes ask others. */
  readonly serve: (life: Life, exchange: HttpExchange) => void;
  readonly trace: (...parts: readonly unknown[]) => void;
  /** Called with what it logs as a warning or an error. */
  readonly onTrouble: (life: Life, trouble: LoggedTrouble) => void;
}

/** How long a signer is waited for, as `remote-signer.ts` waits. */
const SIGNER_MS = 5_000;

/** A machine that runs one operator after another, each composed as `main.ts` composes it. */
export class OperatorMachine {
  readonly accounts: readonly LocalAccount[];
  life: Life | null = null;
  lives = 0;
  /** True while its signer does not answer. */
  isSignerSilent = false;
  /** How far its clock was set beside its skew, in milliseconds. */
  clockOffsetMs = 0;
  /** The members that it cannot reach. */
  readonly unreachable = new Set<number>();
  readonly #folder = mkdtempSync(join(tmpdir(), "simulated-operator-"));

  constructor(readonly options: MachineOptions) {
    this.accounts = options.privateKeys.map((privateKey) => this.#signerOf(accountFromPrivateKey(privateKey)));
  }

  #signerOf(account: ReturnType<typeof accountFromPrivateKey>): LocalAccount {
    const signTransaction = async (...given: Parameters<typeof account.signTransaction>) => {
      if (this.isSignerSilent) {
        await new Promise((resolve) => setTimeout(resolve, SIGNER_MS));
        throw new Error(`the signer gave no answer within ${SIGNER_MS} ms`);
      }
      return account.signTransaction(...given);
    };
    return { ...account, signTransaction } as LocalAccount;
  }

  get index(): number {
    return this.options.index;
  }

  /** Whether something is wrong with it that keeps it from sending what it has promised. */
  get isHit(): boolean {
    return this.clockOffsetMs !== 0 || this.isSignerSilent || this.unreachable.size > 0;
  }

  /** The time of day as this machine shows it, in milliseconds since 1970. */
  now(): number {
    return Date.now() + this.options.skewMs + this.clockOffsetMs;
  }

  /** Starts a process. It returns when that serves, or was killed before. */
  async start(): Promise<void> {
    const { chainId, trace, onTrouble, random, serve } = this.options;
    const id = `op${this.index}-${++this.lives}`;
    const closing = new AbortController();
    const write = (line: string) => {
      if (!life.isAlive) return;
      const [, level, entry] = /^\{"level":(\d+),(.*)\n$/s.exec(line) ?? [];
      trace(id, "log", `{${entry}`);
      if (Number(level) >= 40) onTrouble(life, JSON.parse(line) as LoggedTrouble);
    };
    const logger = pino({ level: "debug", base: null, timestamp: false }, { write });
    const context = {
      ...createContext(logger, closing.signal, new Registry()),
      clock: { now: () => this.now(), monotonic: () => performance.now() },
      random,
      dispatcher: new SimulatedConnections((exchange) => serve(life, exchange)),
    };
    const life: Life = {
      ...{ id, operator: this, isAlive: true, closing, context, app: null, networks: null, startedAt: Date.now() },
    };
    this.life = life;
    trace(id, "starts");
    const { config, networks: plans } = await loadOperatorConfig(this.#writeConfig(), {});
    const senders = new Map([[chainId, { accounts: [...this.accounts], warnings: [] }]]);
    await checkSigners(senders, logger);
    const operator = await Operator.connect(plans, senders, context);
    const app = await buildOperatorApp(operator, plans, config);
    await app.ready();
    if (!life.isAlive) return;
    life.app = app;
    life.networks = operator.networks;
    trace(id, "serves");
  }

  /** Ends the process at once, as SIGKILL does. */
  kill(): void {
    const { life } = this;
    if (life === null || !life.isAlive) return;
    life.isAlive = false;
    this.options.trace(life.id, "killed");
    // It reaches nobody any more; this only ends its timers.
    life.closing.abort();
    this.life = null;
  }

  /** Ends the process as SIGTERM does. */
  async stop(): Promise<void> {
    const { life } = this;
    if (life === null) return;
    life.closing.abort();
    await life.app?.close();
    life.isAlive = false;
    this.options.trace(life.id, "stopped");
    this.life = null;
  }

  #writeConfig(): string {
    const { chainId, dataset, members, endpoints, member, settings, limits } = this.options;
    // Operators prefer different endpoints.
    const rpcUrls = Array.from({ length: endpoints }, (_, i) => `http://rpc-${(i + this.index) % endpoints}`);
    const network = {
      ...{ datasets: [dataset], networkId: chainId, rpcUrls, sender: member ?? "alone" },
      providers: members.map((address, i) => ({ address, url: `http://provider-${i}` })),
      ...settings,
    };
    const config = { plugins: ["feeds", "gateway", "watchdog"], ...limits, networks: [network] };
    const path = join(this.#folder, "operator.json");
    writeFileSync(path, JSON.stringify(config));
    return path;
  }
}
