import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The folder of one run, ignored by git: addresses, keys, configurations, state and logs. */
export interface DataFolder {
  /** Returns the path of a file in the folder. */
  file(...path: string[]): string;
}

/** Creates an empty folder for the chain at this port. It removes the files of an earlier run, whose chain is gone. */
export function createDataFolder(chainPort: number): DataFolder {
  const root = join(ROOT, ".devnet", String(chainPort));
  rmSync(root, { recursive: true, force: true });
  for (const name of ["config", "deployments", "keys", "logs", "state"])
    mkdirSync(join(root, name), { recursive: true });
  return { file: (...path) => join(root, ...path) };
}
