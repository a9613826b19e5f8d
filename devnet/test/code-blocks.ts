import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";

const BLOCK = /(?:^ *<!-- (.+?) -->\n)?^ *```(\w*)\n([\s\S]*?)^ *```$/gm;

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
export interface CodeBlock {
  readonly document: string;
  readonly name: string;
  /** The heading above it. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
  /** The comment above the block: a file name, `prints`, `rehearsed`, or `not run: ` and the reason. */
  readonly note: string;
  /** The block after it, if that is its output. */
  readonly printed: string | undefined;
}

/** Returns a document's text without its blocks, in which a comment of a shell looks like a heading. */
const proseOf = (text: string) => text.replace(BLOCK, "");

const BLOCKS: readonly CodeBlock[] = DOCUMENTS.flatMap((document) => {
  const content = readFileSync(join(ROOT, document), "utf8");
  return [...content.matchAll(BLOCK)].map((match, index, all) => {
    const [, note = "", language = "", text = ""] = match;
    const section =
      proseOf(content.slice(0, match.index))
        .match(/(?<=^#+ ).+$/gm)
        ?.at(-1) ?? "";
    const [, nextNote, , nextText] = all[index + 1] ?? [];
    const printed = nextNote === "prints" ? nextText : undefined;
    return { document, name: `${document.replace(/\W+/g, "-")}-${index}`, section, language, text, note, printed };
  });
});

/** The languages of blocks that are run. */
export const COMMANDS = ["bash", "sh"];
export const PROGRAMS = ["js", "ts"];

/** Returns the blocks in some languages, in their order. */
export const blocksIn = (...languages: readonly string[]) =>
  BLOCKS.filter(({ language }) => languages.includes(language));

export const isRun = ({ note }: CodeBlock) => !/^(?:not run: |rehearsed$)/.test(note);
