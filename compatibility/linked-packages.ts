import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The packages of the repository around this folder that it does not install itself. */
const PEERS = ["@types", "typescript", "viem"];

/** Gives a project outside the repository the packages that npm would install there, but for the repository's own. */
export function linkPackages(project: string): void {
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  const own = readdirSync(join(import.meta.dirname, "node_modules"));
  for (const name of own.filter(
    (name) => !name.startsWith(".") && name !== "@dataset-oracle" && !PEERS.includes(name),
  )) {
    symlinkSync(join(import.meta.dirname, "node_modules", name), join(modules, name));
  }
  for (const name of PEERS) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
}
