import { styleOf } from "../../cli/text-style.js";
import { DATASET_DISPLAY_NAMES } from "../dataset-display-names.js";
import type { PublishableSpec } from "../publishable-spec.js";
import type { RequestSpec } from "../spec-schema.js";

/** Describes a valid spec to its author. */
export function describeSpec({ compiled, hash, bytes }: PublishableSpec): string {
  const { spec, type, kind, hosts } = compiled;
  const variables = spec.variables.map(({ name }) => `/<${name}>`).join("");
  return [
    `${styleOf(process.stdout, process.env).good("valid")}: ${spec.title}`,
    `  value:  ${type}${unitText(spec)}, of the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   WEB/${hash.slice(2)}${variables}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
  ].join("\n");
}

function unitText({ unit }: RequestSpec): string {
  if (unit === undefined) return "";
  return unit.decimals === 0 ? ` in ${unit.symbol}` : `: the number in ${unit.symbol}, times 10^${unit.decimals}`;
}
