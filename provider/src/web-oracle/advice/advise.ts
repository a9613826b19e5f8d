import type { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import { conclusionsOf } from "./conclusions.js";
import { figuresOf } from "./figures.js";
import type { ProviderReadings } from "./parse-readings.js";

/** Computes advice from the readings of one or more providers. The same readings always give the same advice. */
export function advise(
  compiled: CompiledRequest,
  bound: BoundRequest,
  providers: readonly ProviderReadings[],
  intervalSeconds: number,
): SpecAdvice {
  const figures = figuresOf(compiled, bound, providers, intervalSeconds);
  return { ...figures, conclusions: conclusionsOf(figures) };
}
