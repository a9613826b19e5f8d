import type { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import { conclusionsOf } from "./conclusions.js";
import { figuresOf } from "./figures.js";
import type { ProviderReadings } from "./parse-readings.js";

/** Everything that advice is computed from. */
export interface AdviceInput {
  readonly compiled: CompiledRequest;
  readonly bound: BoundRequest;
  /** The readings of one or more providers. */
  readonly readings: readonly ProviderReadings[];
  readonly intervalSeconds: number;
}

/** Computes advice. The same readings always give the same advice. */
export function advise({ compiled, bound, readings, intervalSeconds }: AdviceInput): SpecAdvice {
  const figures = figuresOf(compiled, bound, readings, intervalSeconds);
  return { ...figures, conclusions: conclusionsOf(figures) };
}
