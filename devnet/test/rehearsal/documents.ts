import { blocksIn, COMMANDS, type CodeBlock } from "../code-blocks.js";

/*
 * What the rehearsal takes from the documents. All of it is looked up when the module with the steps is loaded, so that
 * its test fails in CI, too, when a heading, a block or a command is no longer there.
 */

const taken = new Set<CodeBlock>();

/** Returns the blocks of commands that only the rehearsal runs, and that no step has taken. */
export const forgotten = (): readonly CodeBlock[] =>
  blocksIn(...COMMANDS).filter((block) => block.note === "rehearsed" && !taken.has(block));

/** Returns the commands of a section of a document: those of its first block, or of a later one. */
export function block(document: string, section: string, index = 0): string {
  const found = blocksIn(...COMMANDS).filter((one) => one.document === document && one.section === section)[index];
  if (found === undefined) throw new Error(`${document} has no block ${index} of commands below "${section}".`);
  taken.add(found);
  return found.text;
}
