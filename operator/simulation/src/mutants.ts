import { readFileSync } from "node:fs";

/** A fault that is planted in the product, to show that the simulation finds it. */
export interface Mutant {
  /** What the product then does. */
  readonly fault: string;
  /** The compiled file, from the root of the repository. */
  readonly file: string;
  /** What it has there once, and what it has instead. */
  readonly find: string;
  readonly replace: string;
  /** The classes of faults under which it shows, with commas; "none" for a world without any. */
  readonly only: string;
  /** The seeds that are tried, one after the other, until one shows it. */
  readonly seeds: readonly number[];
  /** How long, if not ten virtual minutes. */
  readonly minutes?: number;
}

export const MUTANTS: readonly Mutant[] = JSON.parse(readFileSync(new URL("../mutants.json", import.meta.url), "utf8"));

/** Plants a fault in the text of its file. */
export function plant({ fault, file, find, replace }: Mutant, text: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has the text of "${fault}" ${parts.length - 1} times, not once.`);
  return parts.join(replace);
}
