import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { stackOf } from "@dataset-oracle/service/process/logger";
import type { Hex } from "viem";
import { loadSetup } from "../../../../provider/dist/load-setup.js";
import { loadSources, SHIPPED_SOURCES } from "../../../../provider/dist/source/load-sources.js";
import { Journal } from "../journal.js";
import { PriceModel } from "../market.js";
import { privateKeyOf } from "../provider.js";
import { Random } from "../random.js";
import { START_MS, seedLibraries } from "../virtual-time.js";
import { CHAIN_ID, DATASET } from "../world.js";
import { Exchanges, PAIRS, SOURCE_FILES } from "./exchanges.js";
import type { ProviderFault } from "./faults.js";
import { idOf, Ledger } from "./ledger.js";
import { type ProviderLife, ProviderMachine } from "./machine.js";
import { OperatorSide, type ProviderAnswer } from "./operator-side.js";

const KEYS = PAIRS.map(spotPriceKey);
/** After a disturbance, a provider is silent for about ten seconds, and an exchange is left alone for a while. */
const RECOVERY_MS = 30_000;
const OPERATORS = "10.0.0.";
/** How long everything may take to stop. */
export const STOP_MS = 30_000;

interface ProvidersWorldOptions {
  readonly seed: number;
  readonly providers: number;
  readonly faults: readonly ProviderFault[];
  readonly onLine: (line: string) => void;
}

const isServing = ({ app, isClosing, isAlive }: ProviderLife) => app !== null && !isClosing && isAlive;

/** Providers on machines that fail, the exchanges that they ask, and those who ask them. */
export class ProvidersWorld extends Journal {
  readonly exchanges: Exchanges;
  readonly machines: ProviderMachine[] = [];
  readonly ledger: Ledger;
  readonly #callers: Random;
  #operatorSide: OperatorSide | null = null;
  readonly #endings = new Set<() => void>();
  #areFaultsOver = false;
  #isOver = false;

  constructor(private readonly options: ProvidersWorldOptions) {
    super(options.onLine);
    const { seed } = options;
    seedLibraries(new Random(seed, "libraries").next);
    this.#callers = new Random(seed, "callers");
    const trace = (...parts: readonly unknown[]) => this.trace(...parts);
    this.exchanges = new Exchanges(new PriceModel(seed, START_MS / 1_000), new Random(seed, "exchanges"), trace);
    this.ledger = new Ledger(
      (id, detail) => this.violate("two contents for one round", id, detail),
      ({ key, round, isMissing, value }) => {
        const { low, high } = this.exchanges.rangeOf(PAIRS[KEYS.indexOf(key)] ?? "");
        if (!isMissing && (BigInt(value) < low || BigInt(value) > high))
          this.violate("a value that no honest exchange said", `${key} ${round}`, `${BigInt(value)} at ${round}`);
      },
    );
  }

  async begin(): Promise<void> {
    const { seed, providers, faults } = this.options;
    const config = writeConfig();
    const skews = new Random(seed, "skews");
    const { setup } = await loadSetup(config, { PROVIDER_PRIVATE_KEY: privateKeyOf("unused", seed) });
    for (let index = 0; index < providers; index++) {
      let keys = 0;
      const machine = new ProviderMachine({
        ...{ index, setup, skewMs: Math.round(skews.between(-250, 250)), random: new Random(seed, `machine ${index}`) },
        newAccount: () => accountFromPrivateKey(privateKeyOf(`provider ${index}, key ${keys++}`, seed)),
        trace: (...parts) => this.trace(...parts),
        onSign: (life, message, signature) => {
          this.trace(life.id, "signs", message.primaryType, String(message.message.timestamp));
          this.ledger.note(life.id, machine.address, message, signature);
        },
        onFailure: (life, error) => this.violate("fails", life.id, stackOf(error)),
      });
      this.machines.push(machine);
      machine.start("first");
      machine.disturbedUntil = Date.now();
      if (faults.length > 0) this.#scheduleFaults(machine, new Random(seed, `faults ${index}`));
      this.#every(2_000, () => this.#askAsOperator(machine));
      this.#every(1_000, () => this.#askAgain(machine));
      this.#every(4_000, () => this.#askAhead(machine));
    }
    const members = this.machines.map(({ address }) => address);
    const operatorSide = new OperatorSide(this, seed, members, {
      ask: async (index, path, body, random) => {
        const machine = this.machines[index];
        const lives = machine?.lives.filter(isServing) ?? [];
        if (machine === undefined || lives.length === 0) return null;
        // Two processes can share an address.
        return this.#question(machine, random.pick(lives), path, body, `${OPERATORS}3`);
      },
      isCalm: (index) => {
        const machine = this.machines[index];
        // What a new key signs is not in the committee.
        if (machine === undefined || machine.address !== members[index]) return false;
        return machine.lives.some((life) => this.#isCalm(machine, life));
      },
    });
    operatorSide.begin();
    this.#operatorSide = operatorSide;
  }

  /** Lets what is wrong end, so that all of it can be repaired before the end. */
  endFaults(): void {
    this.#areFaultsOver = true;
    for (const end of this.#endings) end();
    // Owners start again what left its lease to the process that they have stopped.
    for (const machine of this.machines) this.#every(5_000, () => machine.start("first"));
    this.trace("faults end");
  }

  /** Stops everything. Every provider must run, and by its last process alone. */
  end(): void {
    this.#isOver = true;
    for (const { lives, options } of this.machines)
      if (lives.filter(({ startedAt }) => startedAt !== null).length !== 1)
        this.violate("does not run", options.index, `provider ${options.index} has ${lives.length} processes`);
    for (const machine of this.machines) {
      machine.wanted.clear();
      void machine.stop("first");
    }
    let hasStopped = false;
    this.#operatorSide?.end().then(() => {
      hasStopped = true;
    });
    setTimeout(() => {
      if (!hasStopped) this.violate("does not stop", "operator", `the operator has not stopped after ${STOP_MS} ms`);
    }, STOP_MS - 1);
  }

  #every(pauseMs: number, work: () => void): void {
    const again = () => {
      if (this.#isOver) return;
      work();
      setTimeout(again, pauseMs * this.#callers.between(0.5, 1.5));
    };
    setTimeout(again, pauseMs);
  }

  #scheduleFaults(machine: ProviderMachine, random: Random): void {
    const lasting = new Set<ProviderFault>();
    const begin = () => {
      if (this.#areFaultsOver) return;
      const fault = random.pick(this.options.faults);
      const episode = lasting.has(fault) ? null : fault.begin(machine, this.exchanges, random);
      if (episode !== null) {
        machine.trace("fault begins", fault.name);
        this.count(`fault: ${fault.name}`);
        lasting.add(fault);
        machine.disturbedUntil = Number.POSITIVE_INFINITY;
        const end = () => {
          if (!this.#endings.delete(end)) return;
          lasting.delete(fault);
          episode.end?.();
          machine.trace("fault ends", fault.name);
          if (lasting.size === 0) machine.disturbedUntil = Date.now();
        };
        this.#endings.add(end);
        setTimeout(end, episode.forMs);
      }
      setTimeout(begin, random.between(500, 15_000));
    };
    setTimeout(begin, random.between(15_000, 25_000));
  }

  // ---------------------------------------------------------------- callers

  /** Asks every process for the current round, as operators do: single reports and a row, at the same time. */
  #askAsOperator(machine: ProviderMachine): void {
    const random = this.#callers;
    const round = Math.floor(Date.now() / 1_000) - 1;
    for (const life of machine.lives) {
      this.#ask(machine, life, KEYS, round, `${OPERATORS}1`);
      setTimeout(() => this.#ask(machine, life, [random.pick(KEYS)], round, `${OPERATORS}2`), random.between(0, 600));
    }
  }

  /** Asks for what was signed before, where the clock now allows to sign it again: whoever wants a contradiction would. */
  #askAgain(machine: ProviderMachine): void {
    const random = this.#callers;
    const now = Math.floor(machine.now() / 1_000);
    const signed = Array.from({ length: 8 }, (_, age) => now + 2 - age).filter((round) =>
      this.ledger.hasRound(machine.address, BigInt(round)),
    );
    if (signed.length === 0) return;
    for (const life of machine.lives)
      this.#ask(machine, life, random.chance(0.5) ? KEYS : [random.pick(KEYS)], random.pick(signed), "192.0.2.1");
  }

  /** Asks for rounds that the clock has not reached. */
  #askAhead(machine: ProviderMachine): void {
    const round = Math.floor(machine.now() / 1_000) + this.#callers.below(4);
    for (const life of machine.lives) this.#ask(machine, life, [this.#callers.pick(KEYS)], round, "192.0.2.2");
  }

  #ask(machine: ProviderMachine, life: ProviderLife, keys: readonly Hex[], round: number, caller: string): void {
    if (!isServing(life)) return;
    const isDue = caller.startsWith(OPERATORS) && this.#isCalm(machine, life);
    const asked = { network_id: CHAIN_ID, dataset: DATASET, timestamp: round };
    const [url, payload] =
      keys.length === 1 ? ["/report", { ...asked, key: keys[0] }] : ["/report/batch", { ...asked, keys }];
    void this.#question(machine, life, url, JSON.stringify(payload), caller).then((answer) => {
      if (answer === null || answer.status === 200 || answer.code === "source_busy") return;
      if (isDue && this.#isCalm(machine, life))
        this.violate("refuses without a cause", life.id, `${life.id} refuses round ${round}: ${answer.code}`);
    });
  }

  /** Asks a process, and judges its answer. @returns Null if it died meanwhile. */
  #question(
    machine: ProviderMachine,
    life: ProviderLife,
    url: string,
    payload: string,
    remoteAddress: string,
  ): Promise<ProviderAnswer | null> {
    const ask = async () => {
      try {
        const headers = { "content-type": "application/json" };
        const response = await life.app?.inject({ method: "POST", url, headers, payload, remoteAddress });
        if (response === undefined || !life.isAlive) return null;
        const { statusCode: status, payload: text } = response;
        const answer = response.json();
        const { key, keys = [key], timestamp } = JSON.parse(payload);
        this.trace(life.id, "answers", timestamp, status, answer.code ?? "");
        this.count(`answer: ${answer.code ?? status}`);
        if (status === 200) this.#judge(machine, life, answer, keys, BigInt(timestamp));
        return { status, text, code: answer.code };
      } catch (error) {
        if (life.isAlive) this.violate("no answer", life.id, stackOf(error));
        return null;
      }
    };
    const answering = ask().finally(() => life.inProgress.delete(answering));
    life.inProgress.add(answering);
    return answering;
  }

  /** An answer says what was signed, and nothing else. */
  #judge(
    { address }: ProviderMachine,
    { id }: ProviderLife,
    answer: Readonly<Record<string, unknown>>,
    keys: readonly Hex[],
    round: bigint,
  ): void {
    const { outcome, value, missing, values, signature } = answer as Record<string, Hex>;
    const contents = keys.map((key, i) => {
      const isMissing =
        values === undefined ? outcome !== ("OK" as string) : ((BigInt(missing ?? 0) >> BigInt(i)) & 1n) === 1n;
      return `${idOf(address, DATASET, key, round)} ${isMissing ? "nothing" : values === undefined ? value : values[i]}`;
    });
    if (!this.ledger.hasSigned(signature as Hex, contents))
      this.violate("an answer that was not signed", id, `${id} answers ${contents.join("; ")}`);
  }

  /** Nothing has been wrong for a while with the machine, its clock, and the lease that a clock may have left far ahead. */
  #isCalm(machine: ProviderMachine, { startedAt }: ProviderLife): boolean {
    if (machine.latestShown > machine.now()) machine.disturbedUntil = Math.max(machine.disturbedUntil, Date.now());
    const since = Date.now() - RECOVERY_MS;
    return startedAt !== null && startedAt < since && machine.disturbedUntil < since;
  }
}

/** Writes what the providers are configured with. Each process gets its own key and its own path to its lease. */
function writeConfig(): string {
  const folder = mkdtempSync(join(tmpdir(), "simulated-providers-"));
  const write = (name: string, content: object) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return name;
  };
  const keys = PAIRS.map((pair) => `SPOTPX/${pair}`);
  return join(
    folder,
    write("provider.json", {
      deployments: [
        write("42.json", {
          chainId: CHAIN_ID,
          datasets: { prices: { address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys } },
        }),
      ],
      lease: "replaced",
      sources: SOURCE_FILES.map((source) => write(`${source.name}.json`, source)),
      excludedSources: loadSources([SHIPPED_SOURCES]).map(({ name }) => name),
      operators: [`${OPERATORS}0/24`],
    }),
  );
}
