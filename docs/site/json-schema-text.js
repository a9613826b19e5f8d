// Describes JSON schemas in words.

/** Returns the type of a value. */
export function typeOf(schema) {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((only) => `\`${JSON.stringify(only)}\``).join(" or ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.patternProperties) return `object of ${typeOf(Object.values(schema.patternProperties)[0])}`;
  return schema.type ?? "any";
}

/** Returns the bounds of a value, or "" if there are none. */
export function boundsOf({ minimum, exclusiveMinimum, maximum, minLength, maxLength }) {
  const number = (value) => value.toLocaleString("en-US");
  const least = minimum ?? minLength;
  const most = maximum ?? maxLength;
  const unit = minLength !== undefined || maxLength !== undefined ? " characters" : "";
  if (exclusiveMinimum !== undefined) return `above ${number(exclusiveMinimum)}, to ${number(most)}`;
  if (least !== undefined && most !== undefined && most < Number.MAX_SAFE_INTEGER)
    return `${number(least)} to ${number(most)}${unit}`;
  if (least !== undefined) return `${number(least)} or more${unit}`;
  return most === undefined ? "" : `at most ${number(most)}${unit}`;
}

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
