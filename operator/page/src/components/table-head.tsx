/** The head of a table. @param columns The names of the columns, with the class of each. */
export function TableHead({ columns }: { columns: Readonly<Record<string, string>> }) {
  return (
    <thead>
      <tr>
        {Object.entries(columns).map(([name, kind]) => (
          <th key={name} scope="col" class={kind}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
