import { styleOf } from "../../cli/text-style.js";
import type { CompiledRequest } from "../compile-spec.js";
import { DATASET_DISPLAY_NAMES } from "../dataset-display-names.js";
import type { PublishableSpec } from "../publishable-spec.js";
import type { RequestSpec } from "../spec-schema.js";
import { valueText } from "../value-text.js";

/** Describes a valid spec to its author. */
export function describeSpec({ compiled, hash, bytes }: PublishableSpec): string {
  const { spec, type, kind, hosts } = compiled;
  const style = styleOf(process.stdout, process.env);
  const variables = spec.variables.map(({ name }) => `/<${name}>`).join("");
  return [
    `${style.good("valid")}: ${spec.title}`,
    `  value:  ${type}${unitText(spec)}, of the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   WEB/${hash.slice(2)}${variables}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
    ...unitWarnings(compiled).map((warning) => `  ${style.doubtful("warning:")} ${warning}`),
  ].join("\n");
}

function unitText({ unit }: RequestSpec): string {
  if (unit === undefined) return "";
  return unit.decimals === 0 ? ` in ${unit.symbol}` : `: the number in ${unit.symbol}, times 10^${unit.decimals}`;
}

/** Explains each source whose numbers are not scaled like the unit: right only if it counts in another unit. */
function unitWarnings(request: CompiledRequest): string[] {
  const { unit, sources } = request.spec;
  return sources.flatMap(({ decimals }, index) => {
    if (unit === undefined || decimals === undefined || decimals === unit.decimals) return [];
    return [
      `/sources/${index} has ${decimals} decimals, and the unit ${unit.decimals}: where it says 1, the value is ` +
        `${valueText(request, 10n ** BigInt(decimals))}. If that is wrong, make the decimals equal.`,
    ];
  });
}
