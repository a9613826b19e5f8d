import { styleText } from "node:util";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { DATASET_DISPLAY_NAMES, type RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import type { Hex } from "viem";
import { toCanonicalJson } from "../web-oracle/canonical-json.js";
import { type BoundRequest, type CompiledRequest, compileSpec } from "../web-oracle/compile-spec.js";
import { KEY_USAGE, VALIDATE_USAGE } from "./usage.js";
import { valueText } from "./value-text.js";

/** A valid spec, and what its author would publish. */
export interface PublishableSpec {
  readonly compiled: CompiledRequest;
  /** The canonical JSON, which is published. */
  readonly bytes: Hex;
  readonly hash: Hex;
}

/**
 * Reads and checks a spec. The layout of its JSON does not matter.
 *
 * @throws ConfigError that names each place to fix.
 */
export function loadSpec(path: string): PublishableSpec {
  const json = readJsonFile(path);
  const invalid = (problems: string) =>
    new ConfigError(`${path} is not a valid request spec:\n  ${problems.replaceAll("\n", "\n  ")}`);
  const compiled = compileSpec(json);
  if (!compiled.ok) throw invalid(compiled.error);
  const bytes = toCanonicalJson(json);
  if (!bytes.ok) throw invalid(`/: ${bytes.error}`);
  const hash = specHash(bytes.value);
  if (!hash.ok) throw invalid(`/: ${hash.error}`);
  return { compiled: compiled.value, bytes: bytes.value, hash: hash.value };
}

/** @throws ConfigError when the arguments do not fit the spec. */
export function bindSpec({ compiled }: PublishableSpec, args: readonly string[]): BoundRequest {
  const bound = compiled.bind(args);
  if (!bound.ok) throw new ConfigError(bound.error);
  return bound.value;
}

/**
 * Returns the spec's key for these arguments, in hex.
 *
 * @throws ConfigError
 */
export function keyOf({ hash }: PublishableSpec, args: readonly string[]): Hex {
  const key = webOracleKey({ specHash: hash, args });
  if (!key.ok) throw new ConfigError(key.error);
  return key.value;
}

/** Runs `provider key`. */
export function printKey(args: readonly string[]): void {
  const { positionals } = parseCommandLine(args, KEY_USAGE, {});
  const [file, ...variables] = positionals;
  if (file === undefined) throw new ConfigError(`Name the file of the spec.\n\n${KEY_USAGE}`);
  const spec = loadSpec(file);
  bindSpec(spec, variables);
  const key = keyOf(spec, variables);
  const dataset = `for the Web Oracle's ${DATASET_DISPLAY_NAMES[spec.compiled.kind]} dataset`;
  console.log([keyToAscii(key), key, dataset].join("\n"));
}

/** Runs `provider validate`: describes a valid spec to its author. */
export function validateSpec(args: readonly string[]): void {
  const { positionals } = parseCommandLine(args, VALIDATE_USAGE, {});
  const [file, extra] = positionals;
  if (file === undefined) throw new ConfigError(`Name the file of the spec.\n\n${VALIDATE_USAGE}`);
  if (extra !== undefined)
    throw new ConfigError(`validate takes no arguments: it applies to all keys of the spec.\n\n${VALIDATE_USAGE}`);
  const { compiled, hash, bytes } = loadSpec(file);
  const { spec, type, kind, hosts } = compiled;
  const variables = spec.variables.map(({ name }) => `/<${name}>`).join("");
  const lines = [
    `${styleText("green", "valid")}: ${spec.title}`,
    `  value:  ${type}${unitText(spec)}, of the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   WEB/${hash.slice(2)}${variables}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
    ...unitWarnings(compiled).map((warning) => `  ${styleText("yellow", "warning:")} ${warning}`),
  ];
  console.log(lines.join("\n"));
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
