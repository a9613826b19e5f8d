import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { call } from "../http.js";
import type { Tally } from "../results.js";
import { buildSpec, variable } from "./build-spec.js";
import type { Network, RunningProvider } from "./network.js";

const HOST = "changing.attack.example";
const KEYS = Array.from({ length: 6 }, (_, i) => `v${i}`);
/** A provider is silent for about ten seconds after a start. */
const SILENT_MS = 20_000;

/**
 * A provider whose source says something else each time, which reveals a round that was decided twice. It can be killed
 * and started again, with its clock moved and its lease changed.
 */
export class ChangingProvider {
  /** What was told so far, by round and key. */
  readonly #told = new Map<string, string>();
  #processes: RunningProvider[] = [];
  #offset = 0;
  #standsAt: number | null = null;
  #clockFile: string | undefined;
  #name: string | undefined;

  static async start(network: Network, tally: Tally): Promise<ChangingProvider> {
    let value = 0;
    network.internet.serve(HOST, (_, response) => {
      value += 1;
      response.end(`{"value":${value}}`);
    });
    const source = { url: `https://${HOST}/{v}` };
    const spec = buildSpec("changing", source, { variables: [variable("v", "alphanumeric")] });
    const hash = await network.publishOne(spec);
    return new ChangingProvider(network, tally, hash);
  }

  private constructor(
    private readonly network: Network,
    private readonly tally: Tally,
    private readonly hash: Hex,
  ) {}

  /** The number of rounds and keys of which it has told a value. */
  get answers(): number {
    return this.#told.size;
  }

  get lease(): string {
    return join(this.network.folder, `${this.#newest().name}-lease`);
  }

  /** Sets the clock of all processes, in seconds from this machine's. */
  setClock(offset: number): void {
    this.#offset = offset;
    this.#standsAt = null;
    this.#writeClock(String(offset));
  }

  /** Stops the clock of all processes, so that a slow start does not make a round too old to be asked for. */
  stopClock(at: number): void {
    this.#standsAt = at;
    this.#writeClock(`=${at}`);
  }

  #writeClock(text: string) {
    this.#clockFile ??= this.network.file("clock");
    writeFileSync(this.#clockFile, text);
  }

  now(): number {
    return this.#standsAt ?? Math.floor(Date.now() / 1_000) + this.#offset;
  }

  /** Starts a process, beside those that run, on the same lease. Returns false if it refuses to start. */
  async start(offset?: number): Promise<boolean> {
    if (offset !== undefined || this.#clockFile === undefined) this.setClock(offset ?? 0);
    const env = { ATTACK_CLOCK: this.#clockFile ?? "" };
    this.#name ??= this.network.newName("provider");
    const options = { name: this.#name, readyPath: "/live", env };
    const started = await this.network.startProvider(0, {}, options).catch(() => null);
    if (started !== null) this.#processes.push(started);
    return started !== null;
  }

  /** Asks every process for all keys at some rounds, and compares the answers with the earlier ones. */
  async ask(...rounds: number[]): Promise<void> {
    const asked = this.#processes.flatMap((one) =>
      rounds.flatMap((round) => KEYS.map((v) => [one, round, v] as const)),
    );
    await Promise.all(asked.map((question) => this.#askOne(...question)));
  }

  /** Starts a process at the time of the first of these rounds, and asks for them before its clock goes on. */
  async startAgain(...rounds: number[]): Promise<boolean> {
    this.stopClock(rounds[0] ?? this.now());
    const isStarted = await this.start();
    if (isStarted) await this.ask(...rounds);
    this.setClock(0);
    return isStarted;
  }

  /** Asks for these rounds again and again until a process can sign the newest ones, then for the newest ones. */
  async askUntilReady(...rounds: number[]): Promise<void> {
    const end = Date.now() + SILENT_MS;
    while (Date.now() < end) {
      await this.ask(...rounds);
      const { status } = await call(`${this.#newest().url}/ready`, { from: this.network.caller() });
      if (status === 200) break;
      await sleep(300);
    }
    await this.ask(...rounds, this.now() - 1);
  }

  /** Kills all processes while they sign the newest round. Returns the newest rounds of which values were told. */
  async kill(afterMs: number): Promise<number[]> {
    const unfinished = this.ask(this.now());
    await sleep(afterMs);
    const processes = this.#processes.splice(0);
    for (const { kill } of processes) kill();
    await Promise.all(processes.map(({ exited }) => exited));
    await unfinished;
    this.#processes = [];
    const told = new Set([...this.#told.keys()].map((id) => Number(id.split(" ")[0])));
    return [...told].toSorted((a, b) => b - a).slice(0, 3);
  }

  get pids(): number[] {
    return this.#processes.map(({ pid }) => pid);
  }

  #newest(): RunningProvider {
    const newest = this.#processes.at(-1);
    if (newest === undefined) throw new Error("No process of the provider runs.");
    return newest;
  }

  async #askOne(provider: RunningProvider, round: number, v: string) {
    const request = { dataset: this.network.numbers, key: this.network.key(this.hash, v), round };
    this.tally.attempt();
    const { status, json } = await this.network.report(provider, request, { timeoutMs: 5_000, from: "127.0.0.1" });
    if (status !== 200) return;
    const id = `${round} ${v}`;
    const before = this.#told.get(id);
    if (before !== undefined && before !== json.value) this.tally.breach(`${id} was ${before} and is ${json.value}`);
    else this.#told.set(id, json.value);
  }
}
