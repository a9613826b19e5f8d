import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import type { BoundRequest } from "../compile-spec.js";
import { type PublishableSpec, toPublishableSpec } from "../publishable-spec.js";

/**
 * Reads and checks a spec. The layout of its JSON does not matter.
 *
 * @throws ConfigError that names each place to fix.
 */
export function loadSpec(path: string): PublishableSpec {
  const spec = toPublishableSpec(readJsonFile(path));
  if (!spec.ok) throw new ConfigError(`${path} is not a valid request spec:\n  ${spec.error.replaceAll("\n", "\n  ")}`);
  return spec.value;
}

/** @throws ConfigError when the arguments do not fit the spec. */
export function bindSpec({ compiled }: PublishableSpec, args: readonly string[]): BoundRequest {
  const bound = compiled.bind(args);
  if (!bound.ok) throw new ConfigError(bound.error);
  return bound.value;
}
