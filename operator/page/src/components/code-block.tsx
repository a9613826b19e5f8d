import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button";

interface CodeProps {
  readonly name: string;
  readonly what: string;
  readonly text: string;
  /** The text in colours; plain if absent. */
  readonly children?: ComponentChildren;
}

/** Shows code with a button that copies it. */
export function CodeBlock({ name, what, text, children = text }: CodeProps) {
  return (
    <figure class="code">
      <figcaption>
        {name} <CopyButton text={text} what={what} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard */}
      <section tabIndex={0} aria-label={name}>
        <pre>
          <code>{children}</code>
        </pre>
      </section>
    </figure>
  );
}
