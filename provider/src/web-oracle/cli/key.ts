import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { DATASET_DISPLAY_NAMES } from "../dataset-display-names.js";
import type { PublishableSpec } from "../publishable-spec.js";
import { bindSpec } from "./spec-file.js";

/**
 * Writes the spec's key for these arguments, in ASCII and in hex.
 *
 * @throws ConfigError
 */
export function describeKey(spec: PublishableSpec, args: readonly string[]): string {
  bindSpec(spec, args);
  const key = webOracleKey({ specHash: spec.hash, args });
  if (!key.ok) throw new ConfigError(key.error);
  return [
    keyToAscii(key.value),
    key.value,
    `for the Web Oracle's ${DATASET_DISPLAY_NAMES[spec.compiled.kind]} dataset`,
  ].join("\n");
}
