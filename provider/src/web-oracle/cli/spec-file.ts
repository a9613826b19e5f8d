import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readJsonFile } from "@dataset-oracle/service/config/read-json-file";
import type { Hex } from "viem";
import { toCanonicalJson } from "../canonical-json.js";
import { type BoundRequest, type CompiledRequest, compileSpec } from "../compile-spec.js";

/** A spec that its author has in a file. */
export interface LoadedSpec {
  readonly request: CompiledRequest;
  /** The canonical JSON, which is published. */
  readonly bytes: Hex;
  readonly hash: Hex;
}

/**
 * Reads and checks a spec. The layout of its JSON does not matter.
 *
 * @throws ConfigError that names each place to fix.
 */
export function loadSpec(path: string): LoadedSpec {
  const json = readJsonFile(path);
  const request = compileSpec(json);
  if (!request.ok)
    throw new ConfigError(`${path} is not a valid request spec:\n  ${request.error.replaceAll("\n", "\n  ")}`);
  const bytes = toCanonicalJson(json);
  if (!bytes.ok) throw new ConfigError(`${path}: ${bytes.error}`);
  const hash = specHash(bytes.value);
  if (!hash.ok) throw new ConfigError(`${path}: ${hash.error}`);
  return { request: request.value, bytes: bytes.value, hash: hash.value };
}

/** @throws ConfigError when the arguments do not fit the spec. */
export function bindSpec({ request }: LoadedSpec, args: readonly string[]): BoundRequest {
  const bound = request.bind(args);
  if (!bound.ok) throw new ConfigError(bound.error);
  return bound.value;
}
