import type { ComponentChildren } from "preact";
import { TableHead } from "./table-head";

interface Props {
  /** Names the table for screen readers. */
  readonly name: string;
  /** As in `TableHead`. */
  readonly columns: Readonly<Record<string, string>>;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table in a scrolling area of its own, for when it is wider or longer than its place. */
export function ScrollingTable({ name, columns, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard
    <section class="scroll" tabIndex={0} aria-label={name}>
      <table>
        <TableHead columns={columns} />
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
