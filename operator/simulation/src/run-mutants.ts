import { MUTANTS, type Mutant } from "./mutants.js";
import { runPlan } from "./run-plan.js";

const SEEDS = 6;
const MINUTES = 12;
const MAX_SECONDS = 300;

/**
 * Plants one fault after the other in the product, and simulates each until a seed shows a violation.
 *
 * @returns False if one was not found within its time.
 */
export async function runMutants(): Promise<boolean> {
  const missed: string[] = [];
  for (const [index, mutant] of MUTANTS.entries()) {
    const found = await findBy(mutant);
    if (found === null) missed.push(mutant.fault);
    console.log(`${index + 1}/${MUTANTS.length} ${mutant.fault}: ${found ?? "NOT FOUND"}`);
  }
  console.log(`\n${MUTANTS.length - missed.length} of ${MUTANTS.length} faults were found.`);
  return missed.length === 0;
}

async function findBy(mutant: Mutant): Promise<string | null> {
  let seconds = 0;
  for (let seed = 1; seed <= SEEDS && seconds < MAX_SECONDS; seed++) {
    const { violations, realSeconds } = await runPlan({ seed, minutes: MINUTES, only: mutant.only }, { mutant });
    seconds += realSeconds;
    const [first] = violations;
    if (first !== undefined) return `${first.kind}, seed ${seed} at ${first.atSeconds} s (${seconds.toFixed(0)} s)`;
  }
  return null;
}
