import { Random } from "../random.js";
import type { Plan, SimulationOutcome } from "../simulate.js";
import { clock, realNow, runUntil, START_MS } from "../virtual-time.js";
import { PROVIDER_FAULTS, type ProviderFault } from "./faults.js";
import { ProvidersWorld, STOP_MS } from "./world.js";

const REPAIR_MS = 120_000;

/** Simulates providers from a seed. @param onLine Called with every line of the trace. */
export async function simulateProviders(
  { seed, minutes, only }: Plan,
  onLine: (line: string) => void,
): Promise<SimulationOutcome> {
  const startedAt = realNow();
  const faults = chooseFaults(only, new Random(seed, "choices"));
  const world = new ProvidersWorld({ seed, providers: 4, faults, onLine });
  world.trace("seed", seed, faults.map(({ name }) => name).join(" "));
  const fail = (kind: string) => (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    world.violate(kind, text.split("\n")[0], text);
  };
  process.on("unhandledRejection", fail("unhandled rejection"));
  process.on("uncaughtException", fail("uncaught exception"));
  await world.begin();
  const endMs = START_MS + minutes * 60_000;
  await runUntil(endMs - REPAIR_MS);
  world.endFaults();
  await runUntil(endMs);
  world.end();
  await runUntil(Date.now() + STOP_MS);
  const left = clock.countTimers();
  if (left > 0) world.violate("timers left", "", `${left} timers are left ${STOP_MS} ms after the stop`);
  const { hash, events } = world.digest;
  return {
    ...{ seed, minutes, hash, events, faults: faults.map(({ name }) => name) },
    ...{ violations: world.violations, counts: world.counts, realSeconds: (realNow() - startedAt) / 1_000 },
  };
}

/** Every third seed has all classes of faults, the others two to five. */
function chooseFaults(only: string | null, choices: Random): readonly ProviderFault[] {
  if (only !== null) return PROVIDER_FAULTS.filter(({ name }) => only.split(",").includes(name));
  if (choices.chance(0.33)) return PROVIDER_FAULTS;
  const chosen = new Set(Array.from({ length: 2 + choices.below(4) }, () => choices.pick(PROVIDER_FAULTS)));
  return [...chosen];
}
