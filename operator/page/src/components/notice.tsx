import type { ComponentChildren } from "preact";

interface Props {
  readonly title: string;
  readonly tone?: "bad" | "warn" | "info";
  readonly code?: string;
  readonly children: ComponentChildren;
}

/** A highlighted message: an error, a warning or information. */
export function Notice({ title, tone = "bad", code, children }: Props) {
  return (
    <div class={`note note-${tone}`}>
      <p class="note-title">{title}</p>
      <div class="note-text">{children}</div>
      {code && <code class="note-code">{code}</code>}
    </div>
  );
}
