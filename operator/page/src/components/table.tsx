import type { ComponentChildren } from "preact";

interface Props {
  /** The names of the columns, with the class of each. */
  readonly columns: Readonly<Record<string, string>>;
  readonly class?: string;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with named columns. */
export function Table({ columns, class: ofTable, children }: Props) {
  return (
    <table class={ofTable}>
      <thead>
        <tr>
          {Object.entries(columns).map(([name, kind]) => (
            <th key={name} scope="col" class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/**
 * A table in a scrolling area of its own, for when it is wider or longer than its place.
 *
 * @param name Names the table for screen readers.
 */
export function ScrollingTable({ name, ...table }: Props & { readonly name: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard
    <section class="scroll" tabIndex={0} aria-label={name}>
      <Table {...table} />
    </section>
  );
}
