import type { SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import type { Hex } from "viem";
import { invalidArguments, invalidSpecInTrial } from "../../problems.js";
import { toCanonicalJson } from "../canonical-json.js";
import { type BoundRequest, type CompiledRequest, compileRequestSpec } from "../compile-request-spec.js";

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

/** Checks a spec and its arguments as those of a published spec are checked. */
export function checkTriedSpec({
  spec,
  arguments: args,
}: Pick<SpecTrialRequest, "spec" | "arguments">): Result<TriedSpec, ProblemError> {
  const compiled = compileRequestSpec(spec);
  if (!compiled.ok) return err(invalidSpecInTrial(compiled.error));
  const bytes = toCanonicalJson(spec);
  if (!bytes.ok) return err(invalidSpecInTrial(`/: ${bytes.error}`));
  const hash = specHash(bytes.value);
  if (!hash.ok) return err(invalidSpecInTrial(`/: ${hash.error}`));
  const bound = compiled.value.bind(args);
  if (!bound.ok) return err(invalidArguments(bound.error, FIX));
  const key = webOracleKey({ specHash: hash.value, args });
  if (!key.ok) return err(invalidArguments(key.error, FIX));
  return ok({
    compiled: compiled.value,
    bound: bound.value,
    bytes: bytes.value,
    hash: hash.value,
    args,
    key: key.value,
  });
}
