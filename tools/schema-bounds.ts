// Finds the ends of what a configuration's schema allows, for the tests that try every setting at both.

/** The parts of a JSON schema that bound values. */
interface Schema {
  readonly [name: string]: unknown;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The bounds of a number, or of the length of a text or a list. */
export interface SchemaBounds {
  /** The names of the properties, each after a slash; `*` stands for any item. */
  readonly path: string;
  readonly of: "number" | "text" | "list";
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** Lists the bounds of everything in a schema that may have any. */
export function boundsIn(schema: Schema, path = ""): SchemaBounds[] {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const own: Record<string, SchemaBounds> = {
    integer: { path, of: "number", least: minimum, most: maximum },
    number: { path, of: "number", least: minimum, most: maximum },
    string: { path, of: "text", least: minLength, most: maxLength },
    array: { path, of: "list", least: minItems, most: maxItems },
  };
  return [
    ...(own[type ?? ""] === undefined ? [] : [own[type ?? ""] as SchemaBounds]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => boundsIn(part, `${path}/${name}`)),
    ...(schema.anyOf ?? []).flatMap((part) => boundsIn(part, path)),
    ...(schema.items === undefined ? [] : boundsIn(schema.items, `${path}/*`)),
  ];
}

/** Lists the ends of bounds, each with its path. */
export function endsOf(all: readonly SchemaBounds[]): [path: string, end: number][] {
  return all.flatMap(({ path, least, most }) =>
    [least, most].flatMap((end) => (end === undefined ? [] : [[path, end]])),
  );
}

/** Returns a configuration with one setting changed. `*` in its path is the first item. */
export function withSetting<T extends object>(config: T, path: string, value: unknown): T {
  const changed = structuredClone(config);
  const names = path.split("/").slice(1);
  const last = names.pop() ?? "";
  let part = changed as Record<string, unknown>;
  for (const name of names) part = part[name === "*" ? 0 : name] as Record<string, unknown>;
  part[last === "*" ? 0 : last] = value;
  return changed;
}
