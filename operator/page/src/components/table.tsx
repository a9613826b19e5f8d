import { type ComponentChildren, toChildArray } from "preact";
import { useState } from "preact/hooks";
import { Explain, type Term } from "./explain";

/** The number of rows before "Show all". */
const AT_FIRST = 12;

interface Column {
  readonly name: string;
  readonly class?: string;
  readonly term?: Term;
}

interface TableProps {
  readonly columns: readonly Column[];
  readonly class?: string;
  /** The rows. */
  readonly children: ComponentChildren;
  /** False if all rows are shown at once. */
  readonly isShortened?: boolean;
}

/** A table with named columns. Where there is no room for them, its cells are in pairs, one below the other. */
export function Table({ columns, class: ofTable = "", children, isShortened = true }: TableProps) {
  const [isWhole, setWhole] = useState(false);
  const rows = toChildArray(children);
  const shown = isWhole || !isShortened ? rows : rows.slice(0, AT_FIRST);
  return (
    <>
      <table class={ofTable}>
        <thead>
          <tr>
            {columns.map(({ name, class: ofColumn, term }) => (
              <th key={name} scope="col" class={ofColumn}>
                {name} {term && <Explain term={term} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{shown}</tbody>
      </table>
      {shown.length < rows.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
}
