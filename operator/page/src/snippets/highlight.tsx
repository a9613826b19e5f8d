import type { ComponentChildren } from "preact";

export type Language = "code" | "shell";

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`;
const WORDS =
  "as|await|bytes|console|const|constant|contract|external|for|from|function|import|is|memory|new|override|payable|pragma|" +
  "private|public|return|returns|solidity|uint256|bytes32|using|view";

/** Matches the parts that get a colour, in this order: comments, strings, words of the language, numbers. */
const PARTS: Readonly<Record<Language, RegExp>> = {
  code: new RegExp(`(//[^\\n]*)|(${STRINGS})|\\b(${WORDS})\\b|\\b(0x[0-9a-fA-F]+|\\d[\\d_.]*)\\b`, "g"),
  shell: new RegExp(`(^#[^\\n]*)|(${STRINGS})|(\\$[A-Z_]+|\\b(?:cast|curl|cut)\\b)|\\b(0x[0-9a-fA-F]+)\\b`, "gm"),
};
const NAMES = ["comment", "string", "word", "digits"] as const;

/** Colours code for display. Its text stays the same. */
export function highlight(text: string, language: Language): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let done = 0;
  for (const match of text.matchAll(PARTS[language])) {
    const name = NAMES[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(text.slice(done, match.index), <span class={`code-${name}`}>{match[0]}</span>);
    done = match.index + match[0].length;
  }
  return [...parts, text.slice(done)];
}
