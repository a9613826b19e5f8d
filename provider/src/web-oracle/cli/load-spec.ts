import { specHash } from "@dataset-oracle/protocol/web-key";
import { ConfigError, parseJson } from "@dataset-oracle/service/config";
import type { Hex } from "viem";
import { toCanonical } from "../canonical.js";
import { type CompiledRequest, compileRequest } from "../compile.js";

/** A spec that its author has in a file. */
export interface LoadedSpec {
  readonly request: CompiledRequest;
  /** Its canonical JSON: what is published. */
  readonly bytes: Hex;
  readonly hash: Hex;
}

/**
 * Reads and checks a spec, however its JSON is laid out.
 *
 * @throws ConfigError that names each place to mend.
 */
export function loadSpec(path: string): LoadedSpec {
  const json = parseJson(path);
  const request = compileRequest(json);
  if (!request.ok)
    throw new ConfigError(`${path} is not a valid request spec:\n  ${request.error.replaceAll("\n", "\n  ")}`);
  const bytes = toCanonical(json);
  if (!bytes.ok) throw new ConfigError(`${path}: ${bytes.error}`);
  const hash = specHash(bytes.value);
  if (!hash.ok) throw new ConfigError(`${path}: ${hash.error}`);
  return { request: request.value, bytes: bytes.value, hash: hash.value };
}
