import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The packages of the repository around this folder that it does not install itself. */
const PEERS = ["@sinclair", "@types", "typescript"];

/**
 * Gives a project outside the repository the packages that npm would install there, but for the repository's own.
 *
 * @param viem The folder of the viem that it has.
 */
export function linkPackages(project: string, viem = join(ROOT, "node_modules/viem")): void {
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  const own = join(import.meta.dirname, "node_modules");
  const others = ["@dataset-oracle", ...PEERS];
  for (const name of readdirSync(own)) {
    const isHidden = name.startsWith(".") && name !== ".bin";
    if (!isHidden && !others.includes(name)) symlinkSync(join(own, name), join(modules, name));
  }
  symlinkSync(viem, join(modules, "viem"));
  for (const name of PEERS) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
}
