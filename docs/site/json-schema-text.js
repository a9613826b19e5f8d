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
