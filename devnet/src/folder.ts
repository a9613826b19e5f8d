import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";

/** The ignored folder of one run: addresses, keys, configurations, state and logs. */
export interface Folder {
  /** A file in it, by its path inside. */
  file(...path: string[]): string;
}

/** An empty folder for the chain at this port. What an earlier run left is removed: its chain is gone. */
export function createFolder(chainPort: number): Folder {
  const root = join(ROOT, ".devnet", String(chainPort));
  rmSync(root, { recursive: true, force: true });
  for (const part of ["config", "deployments", "keys", "logs", "state"])
    mkdirSync(join(root, part), { recursive: true });
  return { file: (...path) => join(root, ...path) };
}
