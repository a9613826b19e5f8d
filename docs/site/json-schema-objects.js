// Lists the objects of a JSON schema.

/**
 * Returns the properties of a schema and of the objects nested in it, object by object.
 *
 * @returns {{ at: string, properties: { name: string, schema: object, isRequired: boolean }[] }[]} The path of
 *   each object: "" for the first, then for example `networks[].feeds[]`.
 */
export function objectsOf(schema, at = "") {
  const isList = schema.items !== undefined;
  const object = schema.items ?? schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema;
  const properties = Object.entries(object.properties ?? {});
  if (properties.length === 0) return [];
  const place = isList ? `${at}[]` : at;
  const own = properties.map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: (object.required ?? []).includes(name),
  }));
  return [
    { at: place, properties: own },
    ...properties.flatMap(([name, inner]) => objectsOf(inner, place === "" ? name : `${place}.${name}`)),
  ];
}
