import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

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
