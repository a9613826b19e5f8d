export interface Mutant {
  guard: string;
  invariants: string[];
  file: string;
  find: string;
  replace: string;
  caughtBy: string[];
}
export function readMutants(): Mutant[];
export function mutate(source: string, mutant: Mutant): string;
