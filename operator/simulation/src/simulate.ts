import type { Fault } from "./fault.js";
import { FAULTS } from "./faults.js";
import { INVARIANTS } from "./invariants.js";
import type { Violation } from "./journal.js";
import { Random } from "./random.js";
import { clock, realNow, runUntil, START_MS } from "./virtual-time.js";
import { World } from "./world.js";

export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  /** The only classes of faults, with commas; "none" for a world without any; null for what the seed chooses. */
  readonly only: string | null;
}

/** What a simulation found. The same plan always gives the same, but for `realSeconds`. */
export interface SimulationOutcome {
  readonly seed: number;
  readonly minutes: number;
  /** Of all events. */
  readonly hash: string;
  readonly events: number;
  readonly faults: readonly string[];
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
  readonly realSeconds: number;
}

/** No fault begins or lasts in the last minutes, and in the last of them nobody asks, so that all can be repaired. */
const REPAIR_MS = 240_000;
const QUIET_MS = 60_000;
const STOP_MS = 30_000;
const HEAP_CHECK_MS = 600_000;

/**
 * Simulates from a seed: which faults happen, when, and whatever else is random. One process can do it once, because
 * libraries count in their modules.
 *
 * @param onLine Called with every line of the trace.
 * @param onEnd Called with the world as it is in the end.
 */
export async function simulate(
  { seed, minutes, only }: Plan,
  onLine: (line: string) => void,
  onEnd: (world: World) => void,
): Promise<SimulationOutcome> {
  const startedAt = realNow();
  const choices = new Random(seed, "choices");
  const [isAlone, blockMs] = [choices.chance(0.2), choices.pick([1_000, 2_000, 2_000, 12_000])];
  const faults = chooseFaults(only, choices, isAlone);
  const heartbeatSeconds = 60;
  // One that is hardly ever due must not hold up the others.
  const firstHeartbeatSeconds = choices.chance(0.3) ? 86_400 : heartbeatSeconds;
  const senders = choices.chance(0.3) ? 2 : 1;
  const world = new World({
    ...{ seed, operators: isAlone ? 1 : 4, senders, members: 4, feeds: 5, blockMs, faults, onLine },
    ...{ heartbeatSeconds, firstHeartbeatSeconds, requestEveryMs: only === "none" ? 30_000 : 10_000 },
  });
  world.trace("seed", seed, isAlone ? "alone" : "in turns", `${blockMs} ms`, faults.map(({ name }) => name).join(" "));
  const fail = (kind: string) => (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    world.violate(kind, text.split("\n")[0], text);
  };
  process.on("unhandledRejection", fail("unhandled rejection"));
  process.on("uncaughtException", fail("uncaught exception"));
  const checks = Object.values(INVARIANTS).map((invariant) => invariant(world));
  world.begin(() => {
    for (const check of checks) check.atBlock?.();
  });
  const endMs = START_MS + minutes * 60_000;
  const heapBefore = minutes * 60_000 > 2 * HEAP_CHECK_MS ? await heapAt(START_MS + HEAP_CHECK_MS) : null;
  await runUntil(Math.max(Date.now(), endMs - REPAIR_MS));
  world.endFaults();
  await runUntil(endMs - QUIET_MS);
  world.endRequests();
  await runUntil(endMs);
  for (const check of checks) check.atEnd?.();
  if (heapBefore !== null) {
    const heap = await heapAt(Date.now());
    if (heap > 1.5 * heapBefore)
      world.violate("heap grows", "", `${heapBefore} MB after ten minutes, ${heap} MB at the end`);
  }
  await stopAll(world);
  onEnd(world);
  const { hash, events } = world.digest;
  return {
    ...{ seed, minutes, hash, events, faults: faults.map(({ name }) => name) },
    ...{ violations: world.violations, counts: world.counts, realSeconds: (realNow() - startedAt) / 1_000 },
  };
}

/** Faults that others have to make up for. */
const OF_SEVERAL = ["member-never-sends", "dishonest-member"];

/** Every fifth seed has all classes of faults, the others one to four, whose effects are easier to tell apart. */
function chooseFaults(only: string | null, choices: Random, isAlone: boolean): readonly Fault<World>[] {
  if (only === "none") return [];
  const possible = FAULTS.filter(({ name }) => !(isAlone && OF_SEVERAL.includes(name)));
  if (only !== null) return possible.filter(({ name }) => only.split(",").includes(name));
  // What lasts to the end leaves no room for others of its group.
  const passing = possible.filter(({ isPermanent }) => !isPermanent);
  if (choices.chance(0.2)) return passing;
  return Array.from({ length: 1 + choices.below(4) }, () => choices.pick(possible)).filter(
    (one, index, all) => all.indexOf(one) === index,
  );
}

/** The heap in megabytes at a time, as far as the garbage collector can be called. */
async function heapAt(ms: number): Promise<number> {
  await runUntil(Math.max(Date.now(), ms));
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}

/** Stops every operator: nothing of it may go on. */
async function stopAll(world: World): Promise<void> {
  const stopping = world.operators.map(async (operator) => {
    await operator.stop();
    return operator;
  });
  const stopped = new Set<unknown>();
  for (const one of stopping) one.then((operator) => stopped.add(operator)).catch(() => {});
  world.end();
  await runUntil(Date.now() + STOP_MS);
  for (const operator of world.operators)
    if (!stopped.has(operator))
      world.violate("does not stop", operator.index, `operator ${operator.index} has not stopped after ${STOP_MS} ms`);
  const left = clock.countTimers();
  if (left > 0) world.violate("timers left", "", `${left} timers are left ${STOP_MS} ms after the stop`);
}
