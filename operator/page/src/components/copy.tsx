/** Hex and code, with buttons that copy them. */

import { createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import { shortHex } from "../format/names";

/** Announces text to screen readers, in the live region of index.html: a region must exist before its text changes. */
export function tellScreenReaders(text: string): void {
  const region = document.querySelector("[role=status]");
  if (region && region.textContent !== text) region.textContent = text;
}

const SHOWN_MS = 1_600;

/** A button that copies a text and confirms it. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<"Copy" | "Copied" | "Select it">("Copy");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    const isDone = await copyText(text);
    setState(isDone ? "Copied" : "Select it");
    tellScreenReaders(isDone ? `Copied ${what}.` : `Could not copy ${what}. Select the text and copy it instead.`);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState("Copy"), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={state === "Copied" ? "M3.5 8.5l3 3 6-7" : "M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2"} />
      </svg>
      {state}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without https, browsers provide no clipboard.
    return false;
  }
}

/** The base URL of the block explorer of the network that is shown; null if it has none. */
export const ExplorerContext = createContext<string | null>(null);

interface HexProps {
  readonly hex: string;
  readonly what: string;
  readonly whole?: boolean;
  /** Where the network's block explorer shows it. */
  readonly at?: "address" | "tx";
}

/** Shows an address or a hash, shortened unless it is shown whole, with a button that copies all of it. */
export function Hex({ hex, what, whole = false, at }: HexProps) {
  const explorer = useContext(ExplorerContext);
  const code = <code title={hex}>{whole ? hex : shortHex(hex)}</code>;
  return (
    <span class="hex">
      {at && explorer ? (
        <a
          href={`${explorer}/${at}/${hex}`}
          target="_blank"
          rel="noopener noreferrer"
          title={`Show ${what} in the block explorer`}
        >
          {code}
        </a>
      ) : (
        code
      )}
      <CopyButton text={hex} what={what} />
    </span>
  );
}

/** Shows code with a button that copies it. */
export function CodeBlock({ what, text }: { what: string; text: string }) {
  return (
    <div class="code">
      <CopyButton text={text} what={what} />
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}
