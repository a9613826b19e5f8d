// Lists the objects of a JSON schema.

/**
 * Returns the properties of a schema and of the objects nested in it, object by object. Alternatives have one path.
 *
 * @param {import("./json-schema-text.js").JsonSchema} schema
 * @param {string} at
 * @returns {{ at: string, properties: { name: string, schema: import("./json-schema-text.js").JsonSchema, isRequired: boolean }[] }[]} The path of
 *   each object: "" for the first, then for example `networks[].feeds[]`.
 */
export function objectsOf(schema, at = "") {
  if (schema.items) return objectsOf(schema.items, `${at}[]`);
  if (schema.anyOf) return schema.anyOf.flatMap((alternative) => objectsOf(alternative, at));
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [];
  const own = properties.map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: (schema.required ?? []).includes(name),
  }));
  return [
    { at, properties: own },
    ...properties.flatMap(([name, inner]) => objectsOf(inner, at === "" ? name : `${at}.${name}`)),
  ];
}
