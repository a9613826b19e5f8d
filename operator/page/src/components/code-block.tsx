import { Copy } from "./copy";

/** Text with a button that copies it. */
export function CodeBlock({ name, what, text }: { name: string; what: string; text: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <Copy text={text} what={what} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard */}
      <section class="code-text" tabIndex={0} aria-label={name}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </figure>
  );
}
