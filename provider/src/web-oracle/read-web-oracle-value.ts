import { ok } from "@dataset-oracle/protocol/result";
import { toUse, type ValueWithSources } from "../value/combined-value.js";
import type { ReadContext } from "../value/spot-price.js";
import type { WebValueExtractor } from "./extract-values.js";
import type { WebOracleKey } from "./web-oracle-key-finder.js";

/** Asks all sources of a key at the same time and combines their values. Each source is named by its path in the spec. */
export async function readWebOracleValue(
  key: WebOracleKey,
  { reader, caller }: Pick<ReadContext, "reader" | "caller">,
  extractor: WebValueExtractor,
): Promise<ValueWithSources> {
  // Asked first, so that a caller above its allowance costs no source a request.
  const waitMs = extractor.waitMs(key, caller);
  if (waitMs > 0) return busy(waitMs);
  const charges = extractor.chargesTo(caller);
  const requests = key.requests.map((request) => ({ ...request, ...charges }));
  const answers = await Promise.all(requests.map((request) => reader.read(request, caller.mayUseReserve)));
  const extracted = await extractor.extract(key, answers, caller);
  if (!extracted.ok) return busy(extracted.error);
  const { readings } = extracted.value;
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
