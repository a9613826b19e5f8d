import { useRef, useState } from "preact/hooks";
import { useAnnounce } from "./announcer";

const SHOWN_MS = 1_600;

/** A button that copies a text and confirms it. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const announce = useAnnounce();
  const copy = async () => {
    const done = await copyText(text);
    setState(done ? "copied" : "failed");
    announce(done ? `Copied ${what}.` : `${what} could not be copied. Select it instead.`);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState("idle"), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {state === "copied" ? <path d="M3.5 8.5l3 3 6-7" /> : <path d="M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2" />}
      </svg>
      {state === "copied" ? "Copied" : state === "failed" ? "Select it" : "Copy"}
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
  const done = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
