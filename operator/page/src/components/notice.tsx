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
    <div class={`note ${tone}`}>
      <b>{title}</b>
      <div class="quiet">{children}</div>
      {code && <code class="quiet">{code}</code>}
    </div>
  );
}
