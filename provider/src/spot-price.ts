import { median } from "./median.js";
import type { SourceReader } from "./source/reader.js";
import { failed, type Reading, type SourceFailure } from "./source/result.js";
import type { SpotQuestion } from "./source/spot-source.js";

/** A source, ready to be asked for one pair. */
export interface PairSource extends SpotQuestion {
  readonly name: string;
}

/** What one source said of a price, scaled by 10^18. */
export interface SourceAnswer {
  readonly source: string;
  readonly reading: Reading<bigint>;
}

/** What the sources' answers come to. */
export type PriceDecision =
  /** Scaled by 10^18. */
  | { readonly kind: "price"; readonly price: bigint }
  /** Sources failed, so that there is no price now. */
  | { readonly kind: "no_price" }
  /** Nothing is known: sources that could have made up the number were not asked, or sent the provider away. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** Asks all sources at once. One that fails keeps no other from answering. */
export function askSources(
  sources: readonly PairSource[],
  reader: SourceReader,
  isReserved: boolean,
): Promise<SourceAnswer[]> {
  return Promise.all(
    sources.map(async ({ name, request, extract }) => {
      const document = await reader.read(request, isReserved);
      const reading = document.ok ? extract(document.value) : document;
      return { source: name, reading: refuseZero(reading) };
    }),
  );
}

/** An exchange without trades may answer 0, which is no price. */
function refuseZero(reading: Reading<bigint>): Reading<bigint> {
  return reading.ok && reading.value === 0n ? failed("zero", "says 0, which is no price") : reading;
}

/** The sources that failed, and why. */
export function failures(answers: readonly SourceAnswer[]): ({ readonly source: string } & SourceFailure)[] {
  return answers.flatMap(({ source, reading }) => (reading.ok ? [] : [{ source, ...reading }]));
}

/** The median over the sources that answered, unless they are fewer than `minSources`. */
export function decidePrice(answers: readonly SourceAnswer[], minSources: number): PriceDecision {
  const values = answers.flatMap(({ reading }) => (reading.ok ? [reading.value] : []));
  if (values.length >= minSources) return { kind: "price", price: median(values) };
  const waits = failures(answers).flatMap(({ retryAfter }) => retryAfter ?? []);
  // When as many as are missing can be asked again.
  const retryAfter = waits.toSorted((a, b) => a - b)[minSources - values.length - 1];
  return retryAfter === undefined ? { kind: "no_price" } : { kind: "busy", retryAfter: Math.ceil(retryAfter) };
}
