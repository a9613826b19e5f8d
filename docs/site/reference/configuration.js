// The reference of the settings, from the schemas that they are checked with.

import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { ProviderConfig } from "@dataset-oracle/provider/dist/config.js";
import { SpotSourceSpec } from "@dataset-oracle/provider/dist/source/spot-source.js";
import { RequestSpec } from "@dataset-oracle/provider/dist/web-oracle/request-spec.js";
import { boundsOf, objectsOf, typeOf } from "./schema.js";
import { table } from "./table.js";

/** What can be set, by the file that it is set in. */
export const FILES = [
  {
    title: "The operator's configuration",
    about:
      "One JSON file, `operator --config FILE`. [The operator's page](../../operator/README.md) says what it does with each; " +
      "keys come from the environment.",
    schema: OperatorConfig,
  },
  {
    title: "A provider's configuration",
    about: "One JSON file, `provider --config FILE`. [The provider's page](../../provider/README.md) says more.",
    schema: ProviderConfig,
  },
  {
    title: "A source of spot prices",
    about: "A JSON file in a folder that a provider's `sources` names.",
    schema: SpotSourceSpec,
  },
  {
    title: "A request spec of the Web Oracle",
    about: "What is published, and what a key's hash is of. [The guide](../WebOracle.md) shows one.",
    schema: RequestSpec,
  },
];

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
    "Made from the schemas that the files are checked with. A setting that is not listed is refused, and nothing is coerced: " +
      '`"8080"` is no number. `--check-config` names every setting that must be mended.',
    ...sections,
  ].join("\n\n");
}
