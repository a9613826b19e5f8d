import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import type { Hex } from "viem";
import { toCanonicalJson } from "./canonical-json.js";
import { type CompiledRequest, compileSpec } from "./compile-spec.js";

/** A valid spec, and what its author would publish. */
export interface PublishableSpec {
  readonly compiled: CompiledRequest;
  /** The canonical JSON, which is published. */
  readonly bytes: Hex;
  readonly hash: Hex;
}

/** Checks a spec and encodes it for publishing. The error has one line for each problem, with its place. */
export function toPublishableSpec(json: unknown): Result<PublishableSpec> {
  const compiled = compileSpec(json);
  if (!compiled.ok) return compiled;
  const bytes = toCanonicalJson(json);
  if (!bytes.ok) return err(`/: ${bytes.error}`);
  const hash = specHash(bytes.value);
  if (!hash.ok) return err(`/: ${hash.error}`);
  return ok({ compiled: compiled.value, bytes: bytes.value, hash: hash.value });
}
