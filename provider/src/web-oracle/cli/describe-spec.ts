import { styleOf } from "../../cli/text-style.js";
import { DATASET_DISPLAY_NAMES } from "../dataset-display-names.js";
import type { RequestSpec } from "../spec-schema.js";
import type { LoadedSpec } from "./spec-file.js";

/** Describes a valid spec to its author. */
export function describeSpec({ request, hash, bytes }: LoadedSpec): string {
  const { spec, type, kind, hosts } = request;
  const variables = spec.variables.map(({ name }) => `/<${name}>`).join("");
  return [
    `${styleOf(process.stdout, process.env).good("valid")}: ${spec.title}`,
    `  value:  ${type}${unitText(spec)}, of the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   WEB/${hash.slice(2)}${variables}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
  ].join("\n");
}

const unitText = ({ unit }: RequestSpec) =>
  unit === undefined ? "" : ` in ${unit.symbol}${unit.decimals > 0 ? ` × 10^${unit.decimals}` : ""}`;
