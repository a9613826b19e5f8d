import type { Logger } from "pino";
import type { TracedCaller } from "./caller.js";
import { type DataPoint, dataPointLogFields } from "./data-point.js";
import { RecordingReader } from "./evidence/recording-reader.js";
import type { Metrics } from "./metrics.js";
import { readValue } from "./read-value.js";
import type { SourceReader } from "./source/source-reader.js";
import type { PricePolicy } from "./spot-price.js";
import type { ValueWithSources } from "./value-with-sources.js";
import type { RateLimitedExtractor } from "./web-oracle/rate-limited-extractor.js";
import { extractFor } from "./web-oracle/rate-limited-extractor.js";

/** A data point's value as it was just read. */
export interface FreshValue {
  readonly dataPoint: DataPoint;
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
  /** The answers that the value was computed from. */
  readonly answers: RecordingReader["answers"];
}

interface DataPointReaderParts {
  readonly reader: SourceReader;
  readonly extractor: RateLimitedExtractor;
  readonly policy: PricePolicy;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Reads values, and logs and counts the sources that were not used. */
export class DataPointReader {
  constructor(private readonly parts: DataPointReaderParts) {}

  async read(dataPoint: DataPoint, round: bigint, caller: TracedCaller): Promise<FreshValue> {
    const { extractor, policy, now, logger, metrics } = this.parts;
    const { mayUseReserve, trace } = caller;
    const reader = new RecordingReader(this.parts.reader);
    const at = now();
    const value = await readValue(dataPoint.key, { reader, mayUseReserve, policy, at }, extractFor(extractor, caller));
    metrics.valueRead(dataPoint.key.kind, value, at);
    const fields = dataPointLogFields(dataPoint, round, trace);
    for (const { source, dropped } of value.sources) {
      if (dropped === null || dropped.isRepeated) continue;
      const { code: failure, detail } = dropped;
      logger.warn({ ...fields, source, failure, detail }, "source not used");
    }
    if (value.kind === "none") logger.warn({ ...fields, reason: value.reason }, "no value");
    return { dataPoint, value, at, answers: reader.answers };
  }
}
