import type { SpecTrialRequest } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import type { Hex } from "viem";
import { invalidArguments, invalidSpecInTrial } from "../../problems.js";
import type { BoundRequest } from "../compile-spec.js";
import { type PublishableSpec, toPublishableSpec } from "../publishable-spec.js";

/** A spec that someone tries: checked, and with its arguments. */
export interface TriedSpec extends PublishableSpec {
  readonly bound: BoundRequest;
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
  const publishable = toPublishableSpec(spec);
  if (!publishable.ok) throw invalidSpecInTrial(publishable.error);
  const { compiled, hash } = publishable.value;
  const bound = compiled.bind(args);
  if (!bound.ok) throw invalidArguments(bound.error, FIX);
  const key = webOracleKey({ specHash: hash, args });
  if (!key.ok) throw invalidArguments(key.error, FIX);
  return { ...publishable.value, bound: bound.value, args, key: key.value };
}
