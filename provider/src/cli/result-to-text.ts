import type { CombinedValue } from "../combined-value.js";

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
