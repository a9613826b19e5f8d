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
      "base path. Errors are `application/problem+json`; [the operator's README](../../operator/README.md#http-api) lists " +
      "their codes.",
    ...operations,
  ].join("\n\n");
}

function section(name, { summary, description, parameters = [], requestBody, responses }) {
  const parts = [`## ${name}`, [summary, description].filter(Boolean).join(" ")];
  if (parameters.length > 0) {
    const rows = parameters.map(({ name: parameter, required, description: about, schema }) => [
      `\`${parameter}\``,
      typeOf(schema),
      required ? "yes" : "no",
      about ?? schema.description,
    ]);
    parts.push("### Query parameters", table(["parameter", "type", "required", "meaning"], rows));
  }
  if (requestBody) parts.push("### Request body", bodies(requestBody.content, "required"));
  for (const [status, { description: about, content }] of Object.entries(responses)) {
    parts.push(`### ${status}`, about === "Default Response" ? "" : about, bodies(content, "always present"));
  }
  return parts.filter(Boolean).join("\n\n");
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
