import { readFileSync } from "node:fs";

/** A fault that is planted in the product. */
interface PlantedFault {
  /** What the product then does. */
  readonly fault: string;
  /** The compiled file, from the root of the repository. */
  readonly file: string;
  /** What it has there once, and what it has instead. */
  readonly find: string;
  readonly replace: string;
}

/** One that the simulation finds. */
export interface Mutant extends PlantedFault {
  /** The classes of faults under which it shows, with commas; "none" for a world without any; null for those of the seed. */
  readonly only: string | null;
  /** The seeds that are tried, one after the other, until one shows it. */
  readonly seeds: readonly number[];
  /** How long, if not ten virtual minutes. */
  readonly minutes?: number;
}

/** One that only a test finds. */
export interface TestedMutant extends PlantedFault {
  /** The test's file, from the root of the repository. */
  readonly test: string;
  /** Why the simulation cannot find it. */
  readonly why: string;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
export const MUTANTS: readonly Mutant[] = read("mutants.json");
export const TESTED_MUTANTS: readonly TestedMutant[] = read("tested-mutants.json");

/** Plants a fault in the text of its file. */
export function plant({ fault, file, find, replace }: PlantedFault, text: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has the text of "${fault}" ${parts.length - 1} times, not once.`);
  return parts.join(replace);
}
