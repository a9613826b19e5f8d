import type { ComponentChildren } from "preact";

/** A term and its description, in a list of facts. */
export function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <div class={wide ? "whole" : ""}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
