import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { Logger } from "pino";
import { RecordingReader } from "./evidence/recording-reader.js";
import type { ExplainedValue } from "./explained-value.js";
import type { Metrics } from "./metrics.js";
import { readValue } from "./read-value.js";
import type { DataPoint } from "./requested-data-point.js";
import type { SourceReader } from "./source/reader.js";
import type { Policy } from "./spot-price.js";
import type { Extractor } from "./web-oracle/extractor.js";
import type { WebCaller } from "./web-oracle/web-caller.js";
import { extractFor } from "./web-oracle/web-oracle.js";

/** The caller for whom a value is read. */
export interface Caller extends WebCaller {
  /** Ties the log lines of one request together. */
  readonly trace: Trace | null;
}

/** A data point's value as it was just read. */
export interface FreshValue {
  readonly dataPoint: DataPoint;
  readonly value: ExplainedValue;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
  /** The answers that the value was made of. */
  readonly answers: RecordingReader["answers"];
}

interface ValueReaderParts {
  readonly reader: SourceReader;
  readonly extractor: Extractor;
  readonly policy: Policy;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Reads values, and logs and counts the sources that were not used. */
export class ValueReader {
  constructor(private readonly parts: ValueReaderParts) {}

  async read(dataPoint: DataPoint, round: bigint, caller: Caller): Promise<FreshValue> {
    const { extractor, policy, now, logger, metrics } = this.parts;
    const { isReserved, trace } = caller;
    const reader = new RecordingReader(this.parts.reader);
    const at = now();
    const value = await readValue(dataPoint.key, { reader, isReserved, policy, at }, extractFor(extractor, caller));
    metrics.valueRead(dataPoint.key.kind, value, at);
    const fields = logFields(dataPoint, round, trace);
    for (const { source, dropped } of value.sources) {
      if (dropped === null || dropped.isRepeated) continue;
      const { code: failure, detail } = dropped;
      logger.warn({ ...fields, source, failure, detail }, "source failed");
    }
    if (value.kind === "none") logger.warn({ ...fields, reason: value.reason }, "no value");
    return { dataPoint, value, at, answers: reader.answers };
  }
}

/** Returns the fields of every log line about a data point at a round. */
export const logFields = ({ dataset, key }: DataPoint, round: bigint, trace: Trace | null) => ({
  ...traceFieldsOf(trace),
  network: dataset.chainId,
  key: key.name,
  round: Number(round),
});
