import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

/** The Markdown files of the repository, new ones too. */
export const DOCUMENTS: readonly string[] = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
  { cwd: ROOT, encoding: "utf8" },
)
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(ROOT, file)));

/** A fenced block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The comment above the block: a file name, `prints`, or `not run: ` and the reason. */
  readonly note: string;
}

/** The blocks of a document, in their order. */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:^ *<!-- (.+?) -->\n)?^ *```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, note = "", language = "", inner = ""]) => ({ language, text: inner, note }),
  );
}
