import { MUTANTS, type Mutant } from "./mutants.js";
import { onAllCores, runPlan } from "./run-plan.js";

const MINUTES = 10;
/** For how long a fault may be looked for, in seconds of a core. */
const MAX_SECONDS = 300;

/**
 * Plants one fault after the other in the product, and simulates each until a seed shows a violation, which is not there
 * without the fault: each entry is a scenario that must fail with it, and pass without it.
 *
 * @returns False if one was not found.
 */
export async function runMutants(): Promise<boolean> {
  let [tried, found] = [0, 0];
  await onAllCores(MUTANTS, async (mutant) => {
    const violation = await findBy(mutant);
    tried++;
    if (violation !== null) found++;
    console.log(`${tried}/${MUTANTS.length} ${mutant.fault}: ${violation ?? "NOT FOUND"}`);
  });
  console.log(`\n${found} of ${MUTANTS.length} faults were found.`);
  return found === MUTANTS.length;
}

async function findBy(mutant: Mutant): Promise<string | null> {
  const { file, only, seeds, minutes = MINUTES } = mutant;
  const providers = file.startsWith("provider/");
  let seconds = 0;
  for (const seed of seeds) {
    const plan = { seed, minutes, only };
    const { violations, realSeconds } = await runPlan(plan, { mutant, providers });
    seconds += realSeconds;
    if (seconds > MAX_SECONDS) break;
    const [first] = violations;
    if (first === undefined) continue;
    // A fault that keeps the product from starting shows nothing.
    if (first.kind === "process failed") {
      console.log(`seed ${seed}: ${first.detail}`);
      continue;
    }
    const [other] = (await runPlan(plan, { providers })).violations;
    if (other === undefined) return `${first.kind}, seed ${seed} at ${first.atSeconds} s (${seconds.toFixed(0)} s)`;
    console.log(`${other.kind}, seed ${seed} at ${other.atSeconds} s, also without the fault`);
  }
  return null;
}
