import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../http.js";
import { buildSpec, variable } from "./build-spec.js";

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
  #told = new Map();
  #processes = [];

  static async start(network, tally) {
    let value = 0;
    network.internet.serve(HOST, (_, response) => {
      value += 1;
      response.end(`{"value":${value}}`);
    });
    const source = { url: `https://${HOST}/{v}` };
    const spec = buildSpec("changing", source, { variables: [variable("v", "alphanumeric")] });
    const [hash] = await network.publish(spec);
    return new ChangingProvider(network, tally, hash);
  }

  constructor(network, tally, hash) {
    Object.assign(this, { network, tally, hash });
  }

  /** The number of rounds and keys of which it has told a value. */
  get answers() {
    return this.#told.size;
  }

  get lease() {
    const { folder, name } = this.#processes[0];
    return join(folder, `${name}-lease`);
  }

  /** Sets the clock of all processes, in seconds from this machine's. */
  setClock(offset) {
    this.offset = offset;
    writeFileSync(this.clockFile, String(offset));
  }

  now() {
    return Math.floor(Date.now() / 1_000) + this.offset;
  }

  /** Starts a process, beside those that run, on the same lease. Returns false if it refuses to start. */
  async start(offset = this.offset ?? 0) {
    this.clockFile ??= this.network.file("clock");
    this.setClock(offset);
    const env = { ATTACK_CLOCK: this.clockFile };
    this.name ??= this.network.newName("provider");
    const options = { name: this.name, readyPath: "/live", env };
    const started = await this.network.startProvider(0, {}, options).catch(() => null);
    if (started !== null) this.#processes.push(started);
    return started !== null;
  }

  /** Asks every process for all keys at some rounds, and compares the answers with the earlier ones. */
  async ask(...rounds) {
    const asked = this.#processes.flatMap((one) => rounds.flatMap((round) => KEYS.map((v) => [one, round, v])));
    await Promise.all(asked.map((question) => this.#askOne(...question)));
  }

  /** Asks for these rounds again and again until a process can sign the newest ones, then for the newest ones. */
  async askUntilReady(...rounds) {
    const end = Date.now() + SILENT_MS;
    while (Date.now() < end) {
      await this.ask(...rounds);
      const last = this.#processes.at(-1);
      const { status } = await call(`${last.url}/ready`, { from: this.network.caller() });
      if (status === 200) break;
      await sleep(300);
    }
    await this.ask(...rounds, this.now() - 1);
  }

  /** Kills all processes while they sign the newest round. Returns that round and the one before. */
  async kill(afterMs) {
    const now = this.now();
    const unfinished = this.ask(now);
    await sleep(afterMs);
    const processes = this.#processes.splice(0);
    for (const { pid } of processes) process.kill(pid, "SIGKILL");
    await Promise.all(processes.map(({ exited }) => exited));
    await unfinished;
    this.#processes = [];
    return [now, now - 1];
  }

  get pids() {
    return this.#processes.map(({ pid }) => pid);
  }

  async #askOne(provider, round, v) {
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
