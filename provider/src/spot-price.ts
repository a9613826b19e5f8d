import { median } from "./median.js";
import { type Extraction, extractUint } from "./source/extract.js";
import type { SourceReader, SourceRequest } from "./source/reader.js";
import { failed, type Reading, type SourceFailure } from "./source/result.js";

/** A source, ready to be asked for one pair. */
export interface PairSource {
  readonly name: string;
  readonly request: SourceRequest;
  readonly extraction: Extraction;
}

/** What one source said of a price, scaled by 10^18. */
export interface SourceAnswer {
  readonly source: string;
  readonly reading: Reading<bigint>;
}

/** Asks all sources at once. One that fails keeps no other from answering. */
export function askSources(sources: readonly PairSource[], reader: SourceReader): Promise<SourceAnswer[]> {
  return Promise.all(
    sources.map(async ({ name, request, extraction }) => {
      const document = await reader.read(request);
      const reading = document.ok ? extractUint(extraction, document.value) : document;
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

/**
 * The median over the sources that answered, or null when they are fewer than `minSources`.
 *
 * @returns The price, scaled by 10^18.
 */
export function decidePrice(answers: readonly SourceAnswer[], minSources: number): bigint | null {
  const values = answers.flatMap(({ reading }) => (reading.ok ? [reading.value] : []));
  return values.length < minSources ? null : median(values);
}
