import type { Episode } from "../fault.js";
import type { Random } from "../random.js";
import type { DiskFailure } from "./disk.js";
import { type ExchangeFailure, type Exchanges, SOURCE_FILES } from "./exchanges.js";
import type { ProviderLife, ProviderMachine } from "./machine.js";

/** A class of faults of one machine, or of what it asks. */
export interface ProviderFault {
  readonly name: string;
  /** @returns Null if it cannot happen now. */
  begin(machine: ProviderMachine, exchanges: Exchanges, random: Random): Episode | null;
}

const seconds = (random: Random, from: number, to: number) => Math.round(random.between(from, to)) * 1_000;

const EXCHANGE_FAILURES: readonly ExchangeFailure[] = [
  ...(["is down", "is silent", "is slow", "throttles", "answers garbage", "stands still", "lies"] as const),
];
const DISK_FAILURES: readonly DiskFailure[] = ["is full", "is read-only", "does not sync"];

/** By how many seconds a clock is set. */
const NEAR_CLOCK_RANGES = [
  [1, 10],
  [10, 30],
] as const;
/** Only the first machine's: a number that is far ahead keeps a member silent for as long, or makes it change its key. */
const CLOCK_RANGES = [...NEAR_CLOCK_RANGES, [10, 120], [600, 900]] as const;

/** Ends processes, now or before or after one of their next file operations; often each new one as well. */
function endAtOperation(machine: ProviderMachine, random: Random, end: (life: ProviderLife) => void): Episode {
  const again = random.chance(0.4) ? 3 : 1;
  const doomed: ProviderLife[] = [];
  for (let time = 0; time < again; time++)
    setTimeout(() => {
      if (machine.lives.length === 0) return;
      const life = random.pick(machine.lives);
      doomed.push(life);
      if (random.chance(0.3)) end(life);
      else life.kill = { operations: random.below(15), isDone: random.chance(0.5), kill: () => end(life) };
    }, time * random.between(1_000, 5_000));
  return {
    forMs: seconds(random, 1, 5) + again * 5_000,
    end: () => {
      for (const life of doomed) life.kill = null;
    },
  };
}

export const PROVIDER_FAULTS: readonly ProviderFault[] = [
  {
    name: "killed",
    begin(machine, _exchanges, random) {
      if (machine.lives.length === 0) return null;
      return endAtOperation(machine, random, (life) => machine.kill(life));
    },
  },
  {
    name: "power-lost",
    begin(machine, _exchanges, random) {
      if (machine.lives.length === 0) return null;
      return endAtOperation(machine, random, () => machine.losePower());
    },
  },
  {
    name: "clock-set",
    begin(machine, _exchanges, random) {
      const [from, to] = random.pick(machine.options.index === 0 ? CLOCK_RANGES : NEAR_CLOCK_RANGES);
      machine.setClock(Math.round(random.between(from, to) * 1_000) * (random.chance(0.5) ? 1 : -1));
      return { forMs: seconds(random, 1, 40), end: () => machine.setClock(0) };
    },
  },
  {
    name: "folder-lost",
    begin(machine, _exchanges, random) {
      if (random.chance(0.6)) machine.backUp();
      else if (random.chance(0.5)) machine.loseFolder();
      else machine.removeFiles();
      return { forMs: seconds(random, 1, 5) };
    },
  },
  {
    name: "disk-fails",
    begin({ disk }, _exchanges, random) {
      disk.failure = random.pick(DISK_FAILURES);
      return {
        forMs: seconds(random, 1, 20),
        end: () => {
          disk.failure = null;
        },
      };
    },
  },
  {
    name: "disk-slow",
    begin({ disk }, _exchanges, random) {
      disk.isSlow = true;
      return {
        forMs: seconds(random, 5, 30),
        end: () => {
          disk.isSlow = false;
        },
      };
    },
  },
  {
    name: "second-process",
    begin(machine, _exchanges, random) {
      machine.wanted.add("second");
      machine.start("second");
      return {
        forMs: seconds(random, 1, 30),
        end: () => {
          machine.wanted.delete("second");
          machine.stop("second").then(() => machine.start("first"));
        },
      };
    },
  },
  {
    name: "exchange-fails",
    begin(_machine, exchanges, random) {
      // With fewer than two others, nobody has a price.
      if (exchanges.failures.size > 1) return null;
      const name = random.pick(SOURCE_FILES).name;
      // With two liars, the median is theirs.
      const isLie = [...exchanges.failures.values()].includes("lies");
      exchanges.failures.set(name, random.pick(EXCHANGE_FAILURES.filter((one) => !(isLie && one === "lies"))));
      return { forMs: seconds(random, 2, 60), end: () => void exchanges.failures.delete(name) };
    },
  },
];
