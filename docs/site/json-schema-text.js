// Describes JSON schemas in words.

/**
 * What is read of a JSON schema.
 *
 * @typedef {object} JsonSchema
 * @property {string} [type]
 * @property {string} [description]
 * @property {unknown} [const]
 * @property {unknown} [default]
 * @property {unknown[]} [enum]
 * @property {JsonSchema[]} [anyOf]
 * @property {JsonSchema} [items]
 * @property {Record<string, JsonSchema>} [properties]
 * @property {Record<string, JsonSchema>} [patternProperties]
 * @property {string[]} [required]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @property {number} [minItems]
 * @property {number} [maxItems]
 */

/**
 * Returns the type of a value.
 *
 * @param {JsonSchema} schema
 * @returns {string}
 */
export function typeOf(schema) {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((only) => `\`${JSON.stringify(only)}\``).join(" or ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.patternProperties) return `object of ${Object.values(schema.patternProperties).slice(0, 1).map(typeOf)}`;
  return schema.type ?? "any";
}

/**
 * Returns the bounds of a value, or "" if there are none.
 *
 * @param {JsonSchema} schema
 */
export function boundsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems }) {
  /** @param {number | undefined} value */
  const number = (value) => value?.toLocaleString("en-US") ?? "";
  const least = minimum ?? minLength ?? minItems;
  const most = maximum ?? maxLength ?? maxItems;
  const isText = minLength !== undefined || maxLength !== undefined;
  const unit = isText ? " characters" : minItems !== undefined || maxItems !== undefined ? " items" : "";
  if (least !== undefined && most !== undefined && most < Number.MAX_SAFE_INTEGER)
    return `${number(least)} to ${number(most)}${unit}`;
  if (least !== undefined) return `${number(least)} or more${unit}`;
  return most === undefined ? "" : `at most ${number(most)}${unit}`;
}
