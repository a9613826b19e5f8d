// Describes the operations of an OpenAPI document.

import { objectsOf } from "../json-schema-objects.js";
import { typeOf } from "../json-schema-text.js";
import { table } from "../markdown-table.js";

/**
 * What is read of an operation.
 *
 * @typedef {Record<string, { schema: import("../json-schema-text.js").JsonSchema }>} Content
 * @typedef {object} Operation
 * @property {string} [summary]
 * @property {string} [description]
 * @property {{ in: string, name: string, required?: boolean, description?: string, schema: import("../json-schema-text.js").JsonSchema }[]} [parameters]
 * @property {{ content: Content }} [requestBody]
 * @property {Record<string, { description?: string, content?: Content }>} responses
 */

/**
 * Returns the section of an operation.
 *
 * @param {string} name Its method and path.
 * @param {Operation} operation As the OpenAPI document describes it.
 * @param {string} command A block with an example; empty without one.
 */
export function operationSection(name, { summary, description, parameters = [], requestBody, responses }, command) {
  const parts = [`## ${name}`, [summary, description].filter(Boolean).join(" "), command];
  for (const [place, title] of [
    ["path", "Path parameters"],
    ["query", "Query parameters"],
    ["header", "Request headers"],
  ]) {
    const rows = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name: parameter, required, description: about, schema }) => [
        `\`${parameter}\``,
        typeOf(schema),
        required ? "yes" : "no",
        about ?? schema.description,
      ]);
    if (rows.length > 0) parts.push(`### ${title}`, table(["parameter", "type", "required", "meaning"], rows));
  }
  if (requestBody) parts.push("### Request body", bodies(requestBody.content, "required"));
  const problems = Object.entries(responses).flatMap(([status, { content }]) => problemsOf(status, content));
  for (const [status, { description: about, content }] of Object.entries(responses)) {
    if (Number(status) < 400) parts.push(`### ${status}`, about ?? "", bodies(content, "always present"));
  }
  parts.push("### Problems", table(["status", "code", "additional fields"], problems));
  return parts.filter(Boolean).join("\n\n");
}

/** The fields that every problem has, and every error of a gateway. */
const COMMON = ["title", "status", "code", "detail", "message"];

/**
 * Returns a row for each code that a status can have, with the fields of its body that other problems do not have.
 *
 * @param {string} status
 * @param {Content} content
 */
function problemsOf(status, content = {}) {
  if (Number(status) < 400) return [];
  const [first] = Object.values(content);
  const schemas = first === undefined ? [] : (first.schema.anyOf ?? [first.schema]);
  return schemas.flatMap(({ properties = {} }) => {
    const own = Object.keys(properties).filter((field) => !COMMON.includes(field));
    const codes = properties.code?.anyOf ?? [properties.code ?? {}];
    return codes.map((code) => [
      status,
      typeOf(code).replaceAll('"', ""),
      own.map((field) => `\`${field}\``).join(", "),
    ]);
  });
}

/**
 * Returns a table of the fields of a schema's object, and one for each object in it.
 *
 * @param {import("../json-schema-text.js").JsonSchema} schema
 */
export function fieldsOf(schema, required = "always present") {
  const tables = objectsOf(schema).map(({ at, properties }, index, all) => {
    const rows = properties.map(({ name, schema: inner, isRequired }) => [
      `\`${name}\``,
      typeOf(inner),
      isRequired ? "yes" : "no",
      inner.description,
    ]);
    const where = at === "[]" ? "Each item of the array" : `In \`${at}\``;
    const isAlternative = all.slice(0, index).some((other) => other.at === at);
    const intro = at === "" ? "" : `${where}${isAlternative ? ", alternatively" : ""}:\n\n`;
    return intro + table(["field", "type", required, "meaning"], rows);
  });
  return tables.join("\n\n");
}

/**
 * @param {Content | undefined} content
 * @param {string} required The title of the column that says whether a field is.
 */
const bodies = (content = {}, required) =>
  Object.entries(content)
    .map(([type, { schema }]) => {
      const about = `\`${type}\`${schema.description ? `: ${schema.description}` : ""}`;
      return [about, fieldsOf(schema, required)].filter(Boolean).join("\n\n");
    })
    .join("\n\n");
