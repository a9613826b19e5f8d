import { ok } from "@dataset-oracle/protocol/result";
import type { Hex } from "viem";
import type { ReportCaller } from "../callers/caller.js";
import { divideHalfEven } from "../source/decimal-text.js";
import { type FailureCode, failed, isUnknown, notAsked, type Reading, throttled } from "../source/source-failure.js";
import type { SourceReader } from "../source/source-reader.js";
import type { PairQuery, QuotedValue, SpotSource, SpotSourceSpec } from "../source/spot-source.js";
import {
  isMedianFixed,
  median,
  outcomeOfOpenValue,
  outcomeOfTooFewValues,
  type SourceUse,
  toUse,
  type ValueWithSources,
  waitsOf,
} from "./combined-value.js";

/** A source and its query for one pair. */
export interface PairSource extends Pick<PairQuery, "request" | "read"> {
  readonly name: string;
  readonly spec: SpotSourceSpec;
  /** The rate that the price must be multiplied by, and its sources; null when no conversion is needed. */
  readonly rate: RateSources | null;
}

interface RateSources {
  /** For example USDT-USD. */
  readonly pair: string;
  readonly sources: readonly PairSource[];
}

/** The key of a spot price, with the sources of that price. */
export interface SpotPriceKey {
  readonly kind: "spot_price";
  readonly key: Hex;
  /** The key for logs: in ASCII, if it is printable. */
  readonly name: string;
  readonly sources: readonly PairSource[];
}

/** The owner's rules for making a price from quotes. */
export interface PricePolicy {
  /** How many sources must be used. */
  readonly minSources: number;
  /** How far a price may lie from the median of all prices and still be used, in basis points of that median. */
  readonly maxDeviationBps: number;
  /**
   * The age up to which a quote is used, and how far ahead its time may be, in seconds. A quote without a time counts as
   * fresh.
   */
  readonly maxQuoteAge: number;
}

/** The circumstances in which sources are asked. */
export interface ReadContext {
  readonly reader: Pick<SourceReader, "read">;
  readonly caller: ReportCaller;
  readonly policy: PricePolicy;
  /** When the reading started, in whole seconds since 1970. All ages are measured at this time, those of rates too. */
  readonly at: bigint;
}

const E18 = 10n ** 18n;

/** Asks all sources of a price and applies the policy to their answers. */
export async function readSpotPrice(sources: readonly PairSource[], context: ReadContext): Promise<ValueWithSources> {
  return decidePrice(await fetchQuotes(sources, context), context);
}

/** Asks all sources at the same time. One that fails does not keep the others from answering. */
export async function fetchQuotes(sources: readonly PairSource[], context: ReadContext): Promise<SourceUse[]> {
  const rates = new Map<string, Promise<Reading<bigint>>>();
  const rateOf = (rate: RateSources) => {
    const asked = rates.get(rate.pair) ?? readRate(rate, context);
    rates.set(rate.pair, asked);
    return asked;
  };
  return Promise.all(
    sources.map(async ({ name, request, read, rate }) => {
      const answering = context.reader.read(request, context.caller.mayUseReserve);
      const [answer, factor] = await Promise.all([answering, rate === null ? null : rateOf(rate)]);
      const quote = answer.ok ? read(answer.value.document) : answer;
      return toUse(name, refuseZero(factor === null ? quote : convert(quote, factor)));
    }),
  );
}

async function readRate({ pair, sources }: RateSources, context: ReadContext): Promise<Reading<bigint>> {
  const rate = await readSpotPrice(sources, context);
  if (rate.kind === "value") return ok(rate.value);
  const detail = `no rate of ${pair} to convert by`;
  if (rate.kind === "none") return failed("no_rate", detail);
  const without = rate.sources.some(({ dropped }) => isUnknown(dropped)) ? notAsked : throttled;
  return without(detail, rate.retryAfter);
}

function convert(quote: Reading<QuotedValue>, rate: Reading<bigint>): Reading<QuotedValue> {
  // Whatever an unknown quote is, it cannot be used without a rate.
  if (!quote.ok) return isUnknown(quote.error) && !rate.ok && !isUnknown(rate.error) ? rate : quote;
  if (!rate.ok) return rate;
  return ok({ ...quote.value, value: multiply(quote.value.value, rate.value) });
}

/** Multiplies two numbers scaled by 10^18, rounding to the nearest and ties to even. */
export const multiply = (left: bigint, right: bigint): bigint => divideHalfEven(left * right, E18);

/** An exchange without trades may answer 0, which is not a price. */
function refuseZero(reading: Reading<QuotedValue>): Reading<QuotedValue> {
  return reading.ok && reading.value.value === 0n ? failed("zero", "says 0, which is not a price") : reading;
}

/**
 * Takes the median of the usable quotes, if there are at least `minSources`. A quote is unusable when its time is too
 * far in the past or the future, or when it lies too far from the median of the quotes that pass this test. Both medians
 * must be the same whatever the sources that were not asked would have said: then the same quotes are dropped, too.
 */
export function decidePrice(
  asked: readonly SourceUse[],
  { policy, at }: Pick<ReadContext, "policy" | "at">,
): ValueWithSources {
  const fresh = asked.map((use) => dropByAge(use, policy, at));
  const sources = dropOutliers(fresh, policy);
  const [freshValues, values] = [usedValues(fresh), usedValues(sources)];
  const failures = asked.flatMap(({ dropped }) => dropped ?? []);
  const unknown = failures.filter(isUnknown).length;
  if (values.length >= policy.minSources && isMedianFixed(freshValues, unknown) && isMedianFixed(values, unknown))
    return { kind: "value", value: median(values), sources };
  const reason = `only ${values.length} of ${sources.length} sources can be used`;
  // What is unknown may also move the median, and with it the bounds of outliers.
  const missing = policy.minSources - (unknown > 0 ? freshValues : values).length;
  const outcome =
    missing > 0 ? outcomeOfTooFewValues(waitsOf(failures), missing, reason) : outcomeOfOpenValue(failures);
  return { ...outcome, sources };
}

function dropByAge(use: SourceUse, { maxQuoteAge }: PricePolicy, at: bigint): SourceUse {
  const quotedAt = use.quote?.quotedAt ?? null;
  if (quotedAt === null) return use;
  const drop = (code: FailureCode, detail: string) => ({ ...use, dropped: { code, detail } });
  const age = at - quotedAt;
  if (age > BigInt(maxQuoteAge)) return drop("too_old", `is ${age} s old, more than ${maxQuoteAge} s`);
  if (-age > BigInt(maxQuoteAge)) return drop("from_the_future", `has a time ${-age} s in the future`);
  return use;
}

function dropOutliers(sources: readonly SourceUse[], { maxDeviationBps }: PricePolicy): SourceUse[] {
  const values = usedValues(sources);
  if (values.length === 0) return [...sources];
  const middle = median(values);
  return sources.map((use) => {
    if (use.dropped !== null || use.quote === null) return use;
    const distance = use.quote.value > middle ? use.quote.value - middle : middle - use.quote.value;
    if (distance * 10_000n <= BigInt(maxDeviationBps) * middle) return use;
    const detail = `lies more than ${maxDeviationBps} basis points from the median`;
    return { ...use, dropped: { code: "outlier", detail } };
  });
}

const usedValues = (sources: readonly SourceUse[]) =>
  sources.flatMap(({ quote, dropped }) => (quote !== null && dropped === null ? [quote.value] : []));

/** Returns the sources that give the price of a pair directly, or a price that can be converted to it. */
export function sourcesOfPair(pair: string, sources: readonly SpotSource[], minSources: number): PairSource[] {
  return sources.flatMap(({ name, spec, queries }) => {
    const query = queries.get(pair);
    if (query === undefined) return [];
    const { rate, ...asking } = query;
    const source = { name, spec, ...asking };
    if (rate === null) return { ...source, rate };
    // A rate comes only from sources that give it directly, without a conversion of their own.
    const direct = sources.filter((other) => other.queries.get(rate)?.rate === null);
    if (direct.length < minSources) return [];
    return { ...source, rate: { pair: rate, sources: sourcesOfPair(rate, direct, minSources) } };
  });
}
