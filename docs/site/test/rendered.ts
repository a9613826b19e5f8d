import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";

/** A page of the site, as it was rendered. */
export interface RenderedPage {
  /** Its folder, with a slash at the end; empty for the first page. */
  readonly path: string;
  readonly html: string;
  readonly ids: readonly string[];
  /** What it links to and what it loads, as written. */
  readonly links: readonly string[];
}

/** The site, rendered into a folder of its own. */
export function render(): { folder: string; files: Set<string>; pages: Map<string, RenderedPage> } {
  const folder = join(mkdtempSync(join(tmpdir(), "site-")), "dist");
  execFileSync("node", [join(ROOT, "docs/site/build.js"), "--output", folder], { stdio: "pipe" });
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Set(entries.map(({ parentPath, name }) => posix.join(parentPath, name).slice(folder.length + 1)));
  const pages = [...files]
    .filter((file) => file.endsWith("index.html"))
    .map((file): [string, RenderedPage] => {
      const html = readFileSync(join(folder, file), "utf8");
      const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value]) => value ?? "");
      const path = file.slice(0, -"index.html".length);
      return [path, { path, html, ids: all(/\sid="([^"]+)"/g), links: all(/\s(?:href|src)="([^"]*)"/g) }];
    });
  return { folder, files, pages: new Map(pages) };
}
