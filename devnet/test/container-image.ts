import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The patterns of .dockerignore; the last one that matches a path, or a folder above it, decides. */
const PATTERNS = readFileSync(join(ROOT, ".dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ isIgnored: !line.startsWith("!"), pattern: toRegExp(line.replace(/^!/, "")) }));

function toRegExp(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\*/g, (stars) => (stars === "*" ? "[^/]*" : "(?:.*/)?"));
  return new RegExp(`^${source}(?:/|$)`);
}

/** Returns true if a file of the repository's folder enters the container build. */
export function isInBuildContext(path: string): boolean {
  return !(PATTERNS.findLast(({ pattern }) => pattern.test(path))?.isIgnored ?? false);
}

interface Stage {
  readonly name: string;
  readonly copies: readonly {
    readonly from: string | null;
    readonly sources: readonly string[];
    readonly to: string;
  }[];
  readonly runs: readonly string[];
}

/** Reads the stages of a container file. Each instruction is one line. */
export function stagesOf(containerfile: string): readonly Stage[] {
  const text = readFileSync(join(ROOT, containerfile), "utf8");
  return text
    .split(/^FROM /m)
    .slice(1)
    .map((stage) => {
      const instructions = (word: string) =>
        [...stage.matchAll(new RegExp(`^${word} (.+)$`, "gm"))].map(([, rest]) => rest ?? "");
      const copies = instructions("COPY").map((line) => {
        const [, from = null, rest = line] = /^--from=(\w+) (.+)$/.exec(line) ?? [];
        const paths = rest.split(" ");
        return { from, sources: paths.slice(0, -1), to: paths.at(-1) ?? "" };
      });
      return { name: /^\S+ AS (\w+)/.exec(stage)?.[1] ?? "", copies, runs: instructions("RUN") };
    });
}

/**
 * Makes the folder /app of an image as the container build would, except that the stage `build` is this repository as
 * it is built here.
 */
export function buildImageFolder(containerfile: string, folder: string): string {
  const [, dependencies, image] = stagesOf(containerfile);
  if (!dependencies || !image) throw new Error(`${containerfile} has no stages build, dependencies and image.`);
  const roots: Record<string, string> = { build: ROOT, dependencies: join(folder, "dependencies") };
  for (const stage of [dependencies, image]) {
    const app = stage === image ? join(folder, "app") : join(folder, stage.name);
    for (const { from, sources, to } of stage.copies) {
      for (const source of sources) {
        const path = source.replace(/^\/app\/?/, "");
        if (from === null && !isInBuildContext(path)) throw new Error(`${path} is not in the context.`);
        const target = to === "./" && statSync(join(ROOT, path)).isFile() ? join(app, path) : join(app, to);
        mkdirSync(dirname(target), { recursive: true });
        cpSync(join(from === null ? ROOT : (roots[from] ?? ""), path), target, {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    }
    if (stage === dependencies)
      for (const run of stage.runs) execFileSync("sh", ["-c", run], { cwd: app, stdio: "pipe" });
  }
  return join(folder, "app");
}
