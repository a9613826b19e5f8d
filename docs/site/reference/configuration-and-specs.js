// Generates the configuration reference, and the tables of request specs, from the schemas that validate the files.

import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { ProviderConfig } from "@dataset-oracle/provider/dist/config.js";
import { SpotSourceSpec } from "@dataset-oracle/provider/dist/source/spot-source.js";
import { objectsOf } from "../json-schema-objects.js";
import { boundsOf, typeOf } from "../json-schema-text.js";
import { table } from "../markdown-table.js";

/** The JSON files that users write, with their schemas. */
const FILES = [
  {
    title: "The operator's configuration",
    about:
      "One JSON file, passed as `operator --config FILE`. [The operator's README](../../operator/README.md) explains the settings. " +
      "Private keys come from the environment.",
    schema: OperatorConfig,
  },
  {
    title: "A provider's configuration",
    about:
      "One JSON file, passed as `provider serve --config FILE`. [The provider's README](../../provider/README.md) explains the settings.",
    schema: ProviderConfig,
  },
  {
    title: "A source of spot prices",
    about: "A JSON file in the folder named by a provider's `sources` setting.",
    schema: SpotSourceSpec,
  },
];

/** @type {typeof import("./configuration-and-specs.js").specTables} */
export const specTables = () =>
  objectsOf(RequestSpec).map(({ properties }) => {
    const rows = properties.map(({ name, schema, isRequired }) => [
      `\`${name}\``,
      [typeOf(schema).replaceAll(" or ", ", "), boundsOf(schema), isRequired ? "" : "optional"]
        .filter(Boolean)
        .join(", "),
      schema.description,
    ]);
    return table(["field", "type", "meaning"], rows);
  });

export function configurationReference() {
  const sections = FILES.map(({ title, about, schema }) => {
    const tables = objectsOf(schema).map(({ at, properties }) => {
      const rows = properties.map(({ name, schema: inner, isRequired }) => [
        `\`${name}\``,
        [typeOf(inner), boundsOf(inner)].filter(Boolean).join(", "),
        inner.default === undefined ? (isRequired ? "required" : "optional") : `\`${JSON.stringify(inner.default)}\``,
        inner.description,
      ]);
      return (at === "" ? "" : `### ${at}\n\n`) + table(["setting", "type", "default", "meaning"], rows);
    });
    return [`## ${title}`, about, ...tables].join("\n\n");
  });
  return [
    "# Configuration",
    "Generated from the schemas that validate the files. Unknown settings are rejected, and values are not converted: " +
      'a port written as `"8080"` is an error. `operator --check-config` and `provider check` list every setting of a file that must be fixed, and stop at the first file with errors. ' +
      "[The Web Oracle guide](../WebOracle.md#the-spec) describes request specs.",
    ...sections,
  ].join("\n\n");
}
