// Generates the reference of the operator's HTTP API from its OpenAPI document.

import { openApiDocument } from "@dataset-oracle/operator/dist/openapi-document.js";
import { objectsOf, typeOf } from "./schema.js";
import { table } from "./table.js";

export async function httpReference() {
  const { info, paths } = await openApiDocument();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(`${method.toUpperCase()} ${path}`, operation)),
  );
  return [
    "# HTTP API",
    info.description,
    "Generated from the OpenAPI 3.1 document that every operator serves at `GET /openapi.json`. `GET /docs` shows the same " +
      "document as a page where requests can be tried out. All paths except `/live` and `/ready` are below the operator's " +
      "base path. Problems are `application/problem+json`, except those of the gateway, which have the form of ERC-3668; [the operator's README](../../operator/README.md#http-api) says " +
      "when each of them occurs.",
    ...operations,
  ].join("\n\n");
}

function section(name, { summary, description, parameters = [], requestBody, responses }) {
  const parts = [`## ${name}`, [summary, description].filter(Boolean).join(" ")];
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
    if (Number(status) < 400) parts.push(`### ${status}`, about, bodies(content, "always present"));
  }
  parts.push("### Problems", table(["status", "code", "own fields"], problems));
  return parts.filter(Boolean).join("\n\n");
}

/** The fields that every problem has, and every error of a gateway. */
const COMMON = ["title", "status", "code", "detail", "message"];

/** Returns a row for each code that a status can have, with the fields of its body that other problems do not have. */
function problemsOf(status, content = {}) {
  if (Number(status) < 400) return [];
  const schema = Object.values(content)[0]?.schema;
  return (schema?.anyOf ?? [schema]).filter(Boolean).flatMap(({ properties }) => {
    const own = Object.keys(properties).filter((field) => !COMMON.includes(field));
    const codes = properties.code.anyOf ?? [properties.code];
    return codes.map((code) => [
      status,
      typeOf(code).replaceAll('"', ""),
      own.map((field) => `\`${field}\``).join(", "),
    ]);
  });
}

const bodies = (content = {}, required) =>
  Object.entries(content)
    .map(([type, { schema }]) => {
      const tables = objectsOf(schema).map(({ at, properties }) => {
        const rows = properties.map(({ name, schema: inner, isRequired }) => [
          `\`${name}\``,
          typeOf(inner),
          isRequired ? "yes" : "no",
          inner.description,
        ]);
        const where = at === "" ? "" : at === "[]" ? "Each item of the array:\n\n" : `In \`${at}\`:\n\n`;
        return where + table(["field", "type", required, "meaning"], rows);
      });
      return [`\`${type}\`${schema.description ? `: ${schema.description}` : ""}`, ...tables].join("\n\n");
    })
    .join("\n\n");
