import type { LoadHook } from "node:module";
import { type Mutant, plant } from "./mutants.js";

let mutant: Mutant | null = null;

export function initialize(given: Mutant): void {
  mutant = given;
}

/** Changes one place of one file as Node loads it. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (mutant === null || !url.endsWith(`/${mutant.file}`)) return loaded;
  return { ...loaded, source: plant(mutant, String(loaded.source)) };
};
