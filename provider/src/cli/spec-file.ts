import { styleText } from "node:util";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { DATASET_DISPLAY_NAMES, type RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { type Hex, keccak256 } from "viem";
import { toCanonicalJson } from "../web-oracle/canonical-json.js";
import { type BoundRequest, type CompiledRequest, compileSpec } from "../web-oracle/compile-spec.js";
import { KEY_USAGE, VALIDATE_USAGE } from "./usage.js";
import { printable, valueText } from "./value-text.js";

/** A valid spec, and what its author would publish. */
export interface PublishableSpec {
  readonly compiled: CompiledRequest;
  /** The canonical JSON, which is published. */
  readonly bytes: Hex;
  readonly hash: Hex;
  /** Its keys, with the name of each variable in the place of its argument. */
  readonly keys: string;
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
  const hash = keccak256(bytes.value);
  const variables = compiled.value.spec.variables.map(({ name }) => `/<${name}>`).join("");
  const keys = `WEB/${hash.slice(2)}${variables}`;
  return { compiled: compiled.value, bytes: bytes.value, hash, keys };
}

/**
 * Returns the request of a spec with these arguments, and its key in hex.
 *
 * @throws ConfigError when the arguments do not fit the spec.
 */
export function bindSpec({ compiled, hash }: PublishableSpec, args: readonly string[]): [BoundRequest, Hex] {
  const bound = compiled.bind(args);
  if (!bound.ok) throw new ConfigError(bound.error);
  const key = webOracleKey({ specHash: hash, args });
  if (!key.ok) throw new ConfigError(key.error);
  return [bound.value, key.value];
}

/** Runs `provider key`. */
export function printKey(args: readonly string[]): void {
  const { positionals } = parseCommandLine(args, KEY_USAGE, {});
  const [file, ...variables] = positionals;
  if (file === undefined) throw new ConfigError(`Name the file of the spec.\n\n${KEY_USAGE}`);
  const spec = loadSpec(file);
  const [, key] = bindSpec(spec, variables);
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
  const { compiled, keys, bytes } = loadSpec(file);
  const { spec, type, kind, hosts } = compiled;
  const lines = [
    `${styleText("green", "valid")}: ${printable(spec.title)}`,
    `  value:  ${type}${unitText(spec)}, of the Web Oracle's ${DATASET_DISPLAY_NAMES[kind]} dataset`,
    `  asks:   ${hosts.join(", ")}; ${spec.minSources} of ${spec.sources.length} sources must answer`,
    `  keys:   ${keys}`,
    `  bytes:  ${(bytes.length - 2) / 2} of canonical JSON`,
    ...warningsOf(compiled).map((warning) => `  ${warning}`),
  ];
  console.log(lines.join("\n"));
}

function unitText({ unit }: RequestSpec): string {
  if (unit === undefined) return "";
  return unit.decimals === 0 ? ` in ${unit.symbol}` : `: the number in ${unit.symbol}, times 10^${unit.decimals}`;
}

/** Says what in a valid spec may be a mistake. */
export const warningsOf = (request: CompiledRequest): string[] =>
  [...unitWarnings(request), ...secretWarnings(request.spec)].map(
    (warning) => `${styleText("yellow", "warning:")} ${warning}`,
  );

const SECRET_NAME = /auth|token|secret|passw|credential|signature|session|api-?key|app-?id|(?:^|[-_])key$/i;
const SECRET_VALUE = /^(?:bearer|basic|token) |^(?=.*\d)(?=.*[a-z])[\w.~+=-]{24,}$/i;

/** Names the headers, and the parameters of URLs, that look like credentials. */
const secretWarnings = ({ sources }: RequestSpec): string[] =>
  sources.flatMap(({ url, headers = {} }, index) => {
    // A variable is no secret, because it is in the key.
    const parameters = new URL(url.replace(/\{\w+\}/g, "")).searchParams;
    return [...Object.entries(headers), ...parameters]
      .filter(([name, value]) => value !== "" && (SECRET_NAME.test(name) || SECRET_VALUE.test(value)))
      .map(
        ([name]) =>
          `/sources/${index}: ${name} looks like a secret, but everybody can read a spec, for ever. Leave it out: each ` +
          "provider's owner can add a key of their own by the setting secrets.",
      );
  });

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
