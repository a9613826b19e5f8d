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
