import type { SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { Hex } from "viem";
import { invalidArguments, invalidSpecInTrial } from "../../problems.js";
import { toCanonicalJson } from "../canonical-json.js";
import { type BoundRequest, type CompiledRequest, compileSpec } from "../compile-spec.js";

/** A spec that someone tries: checked, and with its arguments. */
export interface TriedSpec {
  readonly compiled: CompiledRequest;
  readonly bound: BoundRequest;
  /** The canonical JSON, which would be published. */
  readonly bytes: Hex;
  readonly hash: Hex;
  readonly args: readonly string[];
  readonly key: Hex;
}

const FIX = "Send one argument for each variable of the spec, as the variable allows.";

/**
 * Checks a spec and its arguments as those of a published spec are checked.
 *
 * @throws ProblemError when they are not valid.
 */
export function checkTriedSpec({ spec, arguments: args }: Pick<SpecTrialRequest, "spec" | "arguments">): TriedSpec {
  const compiled = compileSpec(spec);
  if (!compiled.ok) throw invalidSpecInTrial(compiled.error);
  const bytes = toCanonicalJson(spec);
  if (!bytes.ok) throw invalidSpecInTrial(`/: ${bytes.error}`);
  const hash = specHash(bytes.value);
  if (!hash.ok) throw invalidSpecInTrial(`/: ${hash.error}`);
  const bound = compiled.value.bind(args);
  if (!bound.ok) throw invalidArguments(bound.error, FIX);
  const key = webOracleKey({ specHash: hash.value, args });
  if (!key.ok) throw invalidArguments(key.error, FIX);
  return {
    compiled: compiled.value,
    bound: bound.value,
    bytes: bytes.value,
    hash: hash.value,
    args,
    key: key.value,
  };
}
