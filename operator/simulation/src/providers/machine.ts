import { ExitError } from "@dataset-oracle/service/config/config-error";
import { createContext, SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address, Hex, LocalAccount, TypedDataDefinition } from "viem";
import { buildProvider } from "../../../../provider/dist/app.js";
import type { Setup } from "../../../../provider/dist/load-setup.js";
import type { Random } from "../random.js";
import { Disk } from "./disk.js";
import { type FileUser, mount } from "./file-system.js";

/** What a process that has lost its lease exits with: a supervisor leaves it alone. */
const LEASE_TAKEN = 3;
/** A shutdown is not waited for longer, as `close-on-signal.ts` does. */
const SHUTDOWN_MS = 10_000;
/** A clock that was further ahead than this has its owner think about a new key. */
const FAR_AHEAD_MS = 60_000;
const LEASE = "lease";
const SLOTS = ["first", "second"] as const;

/** The supervised places for a process on one folder. An owner who makes a mistake uses both. */
export type Slot = (typeof SLOTS)[number];

type ProviderApp = Awaited<ReturnType<typeof buildProvider>>["app"];

interface Kill {
  /** After so many file operations. */
  operations: number;
  /** Whether the operation is still done. */
  readonly isDone: boolean;
  readonly kill: () => void;
}

/** One process, from its start until it is killed or has ended. */
export interface ProviderLife extends FileUser {
  readonly slot: Slot;
  isAlive: boolean;
  /** Since when it has its lease; null before. */
  startedAt: number | null;
  app: ProviderApp | null;
  /** True while it shuts down: it takes no further requests. */
  isClosing: boolean;
  readonly inProgress: Set<Promise<unknown>>;
  /** Whether something else changed its folder: another process, or somebody while it started. */
  hadCompany: boolean;
  kill: Kill | null;
}

export interface ProviderMachineOptions {
  readonly index: number;
  readonly setup: Setup;
  /** Makes a key that was never used. */
  readonly newAccount: () => LocalAccount;
  /** How far its clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly random: Random;
  readonly trace: (...parts: readonly unknown[]) => void;
  /** Called with what a process gives to its signer, and the signature. */
  readonly onSign: (life: ProviderLife, message: TypedDataDefinition, signature: Hex) => void;
  readonly onFailure: (life: ProviderLife, error: unknown) => void;
}

/** A machine with a disk and a clock, on which a supervisor runs a provider: `app.ts` as `serve.ts` starts it. */
export class ProviderMachine {
  readonly disk = new Disk();
  readonly slots = new Map<Slot, ProviderLife>();
  /** The slots that the owner wants a process in. */
  readonly wanted = new Set<Slot>(["first"]);
  isOff = false;
  /** Until when something may keep it from signing, in milliseconds since 1970. */
  disturbedUntil = 0;
  /** True since its folder was lost: its owner then starts it only with a clock that never showed a later time. */
  isFolderLost = false;
  #clockOffsetMs = 0;
  #nextOffsetMs = 0;
  #latestShown = 0;
  #lives = 0;
  #backup: ReadonlyMap<string, string> | null = null;
  #account: LocalAccount;

  constructor(readonly options: ProviderMachineOptions) {
    this.#account = options.newAccount();
  }

  get address(): Address {
    return this.#account.address;
  }

  get lives(): readonly ProviderLife[] {
    return [...this.slots.values()];
  }

  /** The time of day as this machine shows it, in milliseconds since 1970. */
  now(): number {
    return Date.now() + this.options.skewMs + this.#clockOffsetMs;
  }

  /** The latest time of day that this machine ever showed. */
  get latestShown(): number {
    this.#latestShown = Math.max(this.#latestShown, this.now());
    return this.#latestShown;
  }

  /** Sets the clock; once the process has started, if its owner has just checked the clock for that. */
  setClock(offsetMs: number): void {
    this.#nextOffsetMs = offsetMs;
    if (!this.isFolderLost || this.slots.size === 0) this.#setClock();
  }

  #setClock(): void {
    if (this.#clockOffsetMs === this.#nextOffsetMs) return;
    void this.latestShown;
    this.#clockOffsetMs = this.#nextOffsetMs;
    this.trace("clock", this.#clockOffsetMs);
  }

  trace(...parts: readonly unknown[]): void {
    this.options.trace(`p${this.options.index}`, ...parts);
  }

  /** Starts a process where one is wanted and none runs. */
  start(slot: Slot): void {
    if (this.isOff || this.slots.has(slot) || !this.wanted.has(slot)) return;
    if (this.slots.size === 0) this.#setClock();
    const aheadMs = this.latestShown - this.now();
    // Until the clock is there, the provider would be silent.
    if (aheadMs > FAR_AHEAD_MS && this.slots.size === 0 && this.options.random.chance(0.5)) this.#changeKey();
    else if (this.isFolderLost && aheadMs > 0) {
      this.#startLater(slot, 1_000);
      return;
    }
    for (const other of this.lives) other.hadCompany = true;
    const life = this.#newLife(slot);
    this.slots.set(slot, life);
    this.#run(life).catch((error: unknown) => {
      if (!life.isAlive) return;
      if (error instanceof ExitError) this.#exit(life, error.exitCode);
      else this.options.onFailure(life, error);
    });
  }

  /** Ends a process at once, as SIGKILL does. */
  kill(life: ProviderLife): void {
    if (!life.isAlive) return;
    this.trace(life.id, "killed");
    this.#end(life);
    this.#startLater(life.slot, this.options.random.between(0, 4_000));
  }

  /** Ends all processes, and what was not synced may be lost. It comes back after some seconds. */
  losePower(): void {
    if (this.isOff) return;
    const { random } = this.options;
    for (const life of this.lives) this.#end(life);
    this.disk.root.losePower(random);
    this.trace("loses power", JSON.stringify([...(this.disk.copyOf(LEASE) ?? [])]));
    this.#stayOff(random.between(500, 10_000));
  }

  backUp(): void {
    this.#backup = this.disk.copyOf(LEASE) ?? this.#backup;
  }

  /** Its owner stops it, and starts it with a folder that is lost, damaged, or restored from a backup. */
  loseFolder(): void {
    const { random } = this.options;
    for (const life of this.lives) this.#end(life);
    const files = this.disk.copyOf(LEASE);
    const damage = (text: string) =>
      random.chance(0.5) ? text.slice(0, random.below(text.length)) : `9${text.slice(1)}`;
    const damaged = files && new Map([...files].map(([name, text]) => [name, damage(text)]));
    const what = random.pick(["lost", "damaged", "restored"]);
    this.disk.replace(LEASE, what === "lost" ? null : what === "damaged" ? damaged : this.#backup);
    this.isFolderLost = true;
    this.trace("folder", what);
    this.#stayOff(random.between(500, 5_000));
  }

  /** Somebody removes the files while it runs. */
  removeFiles(): void {
    this.disk.replace(LEASE, new Map());
    for (const life of this.lives) if (life.startedAt === null) life.hadCompany = true;
    this.isFolderLost = true;
    this.trace("files removed");
  }

  /** Ends the process of a slot as SIGTERM does. */
  async stop(slot: Slot): Promise<void> {
    const life = this.slots.get(slot);
    if (life?.isAlive) await this.#shutDown(life, 0);
  }

  /** Its owner uses a new key, and an empty folder. */
  #changeKey(): void {
    this.#account = this.options.newAccount();
    this.disk.replace(LEASE, null);
    this.#backup = null;
    this.#latestShown = this.now();
    this.trace("new key", this.address);
  }

  #stayOff(ms: number): void {
    this.isOff = true;
    setTimeout(() => {
      this.isOff = false;
      for (const slot of SLOTS) this.start(slot);
    }, ms);
  }

  #startLater(slot: Slot, ms: number): void {
    setTimeout(() => this.start(slot), ms);
  }

  #newLife(slot: Slot): ProviderLife {
    const { disk, options } = this;
    const { index, random } = options;
    const life: ProviderLife = {
      ...{ id: `p${index}-${++this.#lives}`, slot, isAlive: true, startedAt: null, app: null },
      ...{ isClosing: false, kill: null, disk },
      ...{ inProgress: new Set(), hadCompany: this.slots.size > 0 },
      pause: () => random.logNormal(1, 1) + (disk.isSlow ? random.between(0, 3_000) : 0),
      operate: (name, act) => {
        const { kill } = life;
        const isLast = kill !== null && kill.operations-- <= 0;
        if (isLast) {
          options.trace(life.id, "file", name, kill.isDone ? "is the last" : "is not done");
          if (kill.isDone) act();
          kill.kill();
          return null;
        }
        if (/^(list|close)/.test(name)) return { result: act() };
        try {
          const result = act();
          options.trace(life.id, "file", name);
          return { result };
        } catch (error) {
          options.trace(life.id, "file", name, (error as NodeJS.ErrnoException).code);
          throw error;
        }
      },
    };
    return life;
  }

  async #run(life: ProviderLife): Promise<void> {
    const { setup, trace } = this.options;
    trace(life.id, "starts");
    const write = (line: string) => {
      if (life.isAlive) trace(life.id, "log", line.trimEnd());
    };
    const provider = await buildProvider(
      { ...setup, config: { ...setup.config, lease: `${mount(life)}/${LEASE}` }, account: this.#signerOf(life) },
      {
        ...createContext(
          pino({ level: "info", base: null, timestamp: false }, { write }),
          new AbortController().signal,
          new Registry(),
        ),
        clock: { now: () => this.now(), monotonic: SYSTEM_CLOCK.monotonic },
        random: this.options.random.next,
      },
    );
    life.app = provider.app;
    await provider.app.ready();
    await provider.start((exitCode) => this.#exit(life, exitCode));
    if (!life.isAlive) return;
    this.isFolderLost = false;
    this.#setClock();
    life.startedAt = Date.now();
    trace(life.id, "signs");
  }

  /** A signer elsewhere, which gets whole reports and rows, and answers after some time. */
  #signerOf(life: ProviderLife): Setup["account"] {
    const account = this.#account;
    const signTypedData = async (message: TypedDataDefinition): Promise<Hex> => {
      if (!life.isAlive) return new Promise(() => {});
      const signature = await account.signTypedData(message);
      this.options.onSign(life, message, signature);
      await new Promise((resolve) => setTimeout(resolve, this.options.random.logNormal(3, 1)));
      return life.isAlive ? signature : new Promise(() => {});
    };
    const { sign: _, ...remote } = account;
    return { ...remote, signTypedData } as Setup["account"];
  }

  #exit(life: ProviderLife, exitCode: number): void {
    this.trace(life.id, "exits with", exitCode);
    if (exitCode === LEASE_TAKEN && !life.hadCompany)
      this.options.onFailure(life, new Error("It leaves its lease to another process, but there is none."));
    void this.#shutDown(life, exitCode).then(() => {
      if (exitCode !== LEASE_TAKEN) this.#startLater(life.slot, this.options.random.between(100, 4_000));
    });
  }

  async #shutDown(life: ProviderLife, exitCode: number): Promise<void> {
    const limit = new Promise<void>((resolve) => setTimeout(resolve, SHUTDOWN_MS));
    const { app, inProgress } = life;
    life.isClosing = true;
    // As a server's connections do, requests in progress delay what `onClose` does.
    await Promise.race([Promise.all(inProgress).then(() => app?.close()), limit]);
    if (!life.isAlive) return;
    this.trace(life.id, "has ended", exitCode);
    this.#end(life);
  }

  /** Nothing of it reaches anybody any more. */
  #end(life: ProviderLife): void {
    life.isAlive = false;
    if (this.slots.get(life.slot) === life) this.slots.delete(life.slot);
    // This only ends its timers.
    life.app?.close().catch(() => {});
  }
}
