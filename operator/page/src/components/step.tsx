import type { ComponentChildren } from "preact";

/** The states of a step. */
const STATES = {
  done: { words: "done", tone: "", icon: "M3.5 8.5l3 3 6-7" },
  now: { words: "in progress", tone: "info", icon: "M6 8h4" },
  next: { words: "pending", tone: "quiet", icon: "" },
  failed: { words: "failed", tone: "bad", icon: "M4 4l8 8M12 4l-8 8" },
} as const;

interface Props {
  readonly name: string;
  readonly state: keyof typeof STATES;
  readonly children?: ComponentChildren;
}

/** One step in a list of class `steps`, with its state as an icon, and as a word for screen readers. */
export function Step({ name, state, children }: Props) {
  const { words, tone, icon } = STATES[state];
  return (
    <li class={tone}>
      <svg class={state === "done" ? "sign good" : "sign"} viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      <span>
        <b>{name}</b> {children}
        <span class="unseen">, {words}</span>
      </span>
    </li>
  );
}
