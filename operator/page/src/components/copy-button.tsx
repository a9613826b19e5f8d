import { useRef, useState } from "preact/hooks";
import { tellScreenReaders } from "./tell-screen-readers";

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
    return copyWithSelection(text);
  }
}

/** Copies by selection, for pages without https, where browsers provide no clipboard. */
function copyWithSelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  const focused = document.activeElement;
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
