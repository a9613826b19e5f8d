import { styleText } from "node:util";

/** Emphasizes text, or leaves it alone where no terminal would show the emphasis. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly doubtful: (text: string) => string;
  readonly dim: (text: string) => string;
}

export function styleOf(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  const isShown = stream.isTTY === true && !env.NO_COLOR;
  // styleText need not look for a terminal again.
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isShown ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: style("bold"),
    good: style("green"),
    bad: style("red"),
    doubtful: style("yellow"),
    dim: style("dim"),
  };
}

/**
 * Escapes control and format characters except newlines and tabs, so that text from outside cannot control the
 * terminal, and cuts long text.
 */
export function printable(text: string): string {
  const short = text.length > 2_000 ? `${text.slice(0, 2_000)} ... (${text.length} characters)` : text;
  return short.replace(/\p{Cc}|\p{Cf}/gu, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
