import { ok, type Result } from "@dataset-oracle/protocol/result";
import type { Caller } from "../caller.js";
import type { Reading } from "../source/source-failure.js";
import type { ReadContext } from "../spot-price.js";
import { toUse, type ValueWithSources } from "../value-with-sources.js";
import { type Extracted, extractValues } from "./extract-values.js";
import type { RateLimitedExtractor } from "./rate-limited-extractor.js";
import type { WebOracleKey } from "./web-oracle.js";

/** Extracts a key's values from the answers to its requests. */
export interface ExtractWebValues {
  /** Returns after how many milliseconds the key's values may be extracted; 0 for now. */
  waitMs(key: WebOracleKey): number;
  /** Returns one reading for each answer, or after how many milliseconds to try again. */
  extract(key: WebOracleKey, texts: readonly (string | null)[]): Promise<Result<Pick<Extracted, "readings">, number>>;
}

/** Extracts in the calling thread, without allowances: for commands. */
export const EXTRACT_HERE: ExtractWebValues = {
  waitMs: () => 0,
  extract: async ({ request }, texts) => ok(extractValues(request.sources, texts)),
};

/** Extracts within the allowances of a caller. */
export const extractFor = (extractor: RateLimitedExtractor, caller: Caller): ExtractWebValues => ({
  waitMs: ({ specHash }) => extractor.waitMs(caller, specHash),
  extract: ({ specHash, args, compiled: { spec } }, texts) =>
    extractor.extract({ specHash, spec, args, texts }, caller),
});

/** Asks all sources of a key at the same time and combines their values. Each source is named by its path in the spec. */
export async function readWebOracleValue(
  key: WebOracleKey,
  { reader, mayUseReserve }: Pick<ReadContext, "reader" | "mayUseReserve">,
  extractor: ExtractWebValues,
): Promise<ValueWithSources> {
  // Asked first, so that a caller above its allowance costs no source a request.
  const waitMs = extractor.waitMs(key);
  if (waitMs > 0) return busy(waitMs);
  const answers = await Promise.all(key.requests.map((request) => reader.read(request, mayUseReserve)));
  const extracted = await extractor.extract(
    key,
    answers.map((answer) => (answer.ok ? answer.value.text : null)),
  );
  if (!extracted.ok) return busy(extracted.error);
  const readings = answers.map((answer, index) =>
    answer.ok ? (extracted.value.readings[index] as Reading<bigint>) : answer,
  );
  const sources = readings.map((reading, index) =>
    toUse(`/sources/${index}`, reading.ok ? ok({ value: reading.value, quotedAt: null }) : reading),
  );
  return { ...key.request.combine(readings), sources };
}

const busy = (waitMs: number): ValueWithSources => ({
  kind: "busy",
  retryAfter: Math.ceil(waitMs / 1_000),
  sources: [],
});
