import { useEffect, useState } from "preact/hooks";

/** The current colours of the style sheet, for the canvas, which CSS does not style. */
export interface Colours {
  readonly accent: string;
  readonly wash: string;
  readonly muted: string;
  readonly line: string;
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

export function useColours(): Colours {
  const [colours, setColours] = useState(read);
  useEffect(() => {
    const follow = () => setColours(read());
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  return colours;
}

function read(): Colours {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { accent: colour("accent"), wash: colour("wash"), muted: colour("muted"), line: colour("line") };
}
