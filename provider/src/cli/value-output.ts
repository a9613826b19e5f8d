import { type CombinedValue, OUTCOMES } from "../combined-value.js";
import type { SourceUse, ValueWithSources } from "../value-with-sources.js";

/** The parts of the output that differ between kinds of keys. */
interface Shown {
  /** The members that identify the key. */
  readonly head: object;
  /** Describes the value, which is null when there is none. */
  readonly ofValue: (value: bigint | null) => object;
  /** Describes a source's value. */
  readonly ofSource: (quote: SourceUse["quote"], index: number) => object;
}

/**
 * Returns a value and its sources as a JSON object, for programs.
 *
 * @param at When the reading started, in whole seconds since 1970.
 */
export function valueToJson(value: ValueWithSources, at: bigint, { head, ofValue, ofSource }: Shown): object {
  return {
    ...head,
    outcome: OUTCOMES[value.kind],
    ...ofValue(value.kind === "value" ? value.value : null),
    at: Number(at),
    sources: value.sources.map(({ source, quote, dropped }, index) => ({
      name: source,
      ...ofSource(quote, index),
      used: dropped === null,
      reason: dropped?.code ?? null,
      detail: dropped?.detail ?? null,
    })),
  };
}

/**
 * Writes a result for people.
 *
 * @param good Writes the value.
 * @param bad Emphasizes the explanation when there is no value.
 * @param none Precedes the reason: `no price`, for example.
 */
export function resultToText(
  result: CombinedValue,
  good: (value: bigint) => string,
  bad: (text: string) => string,
  none: string,
): string {
  switch (result.kind) {
    case "value":
      return good(result.value);
    case "none":
      return bad(`${none}: ${result.reason}`);
    case "busy":
      return bad(`unknown: sources are at their rate limits; try again in ${result.retryAfter} s`);
  }
}
