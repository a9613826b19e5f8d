import { median } from "./median.js";
import type { SourceReader } from "./source/reader.js";
import { failed, type Reading, read, type SourceFailure, throttled } from "./source/reading.js";
import type { Quote, SpotQuestion, SpotSourceSpec } from "./source/spot-source.js";

/** A source, ready to be asked for one pair. */
export interface PairSource extends Pick<SpotQuestion, "request" | "read"> {
  readonly name: string;
  /** What it was made of. */
  readonly spec: SpotSourceSpec;
  /** The rate that its price is multiplied by, and who is asked for that; null when it is a price as it is. */
  readonly rate: RateSources | null;
}

export interface RateSources {
  /** For example USDT-USD. */
  readonly pair: string;
  readonly sources: readonly PairSource[];
}

/** What one source said of a price, scaled by 10^18. */
export interface SourceAnswer {
  readonly source: string;
  readonly reading: Reading<Quote>;
}

/** What makes a value of what sources say. */
export interface Policy {
  /** How many sources must be used. */
  readonly minSources: number;
  /** How far a price may lie from the median of all to be used, in basis points of that median. */
  readonly maxDeviationBps: number;
  /** How old a quote may be to be used, in seconds. One whose source does not say is taken as fresh. */
  readonly maxQuoteAge: number;
}

/** Why a source's price was not used: a failure of the source, or the policy. */
export type DropReason = SourceFailure["failure"] | "too_old" | "from_the_future" | "outlier";

/** What became of one source's answer. */
export interface SourceUse {
  readonly source: string;
  readonly quote: Quote | null;
  /** Null when it was used. */
  readonly dropped: { readonly reason: DropReason; readonly detail: string } | null;
}

/** What the sources' answers come to. */
export type PriceDecision =
  /** Scaled by 10^18. */
  | { readonly kind: "price"; readonly price: bigint }
  /** Sources failed, or did not agree, so that there is no price now. */
  | { readonly kind: "no_price" }
  /** Nothing is known: sources that could have made up the number were not asked, or sent the provider away. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** A decision, and what each source had to do with it. */
export type ExplainedPrice = PriceDecision & { readonly sources: readonly SourceUse[] };

const E18 = 10n ** 18n;

/** How sources are asked. */
export interface Asking {
  readonly reader: Pick<SourceReader, "read">;
  /** Whether the reserved part of the rate limits may be used. */
  readonly isReserved: boolean;
  readonly policy: Policy;
  /** When the reading begins, in whole seconds since 1970: ages count up to then, in rates too. */
  readonly at: bigint;
}

/** Asks all sources at once. One that fails keeps no other from answering. */
export async function askSources(sources: readonly PairSource[], asking: Asking): Promise<SourceAnswer[]> {
  const rates = new Map<string, Promise<Reading<bigint>>>();
  const rateOf = (rate: RateSources) => {
    const asked = rates.get(rate.pair) ?? readRate(rate, asking);
    rates.set(rate.pair, asked);
    return asked;
  };
  return Promise.all(
    sources.map(async ({ name, request, read: take, rate }) => {
      const answering = asking.reader.read(request, asking.isReserved);
      const [answer, factor] = await Promise.all([answering, rate === null ? null : rateOf(rate)]);
      const quote = answer.ok ? take(answer.value.document) : answer;
      return { source: name, reading: refuseZero(factor === null ? quote : convert(quote, factor)) };
    }),
  );
}

async function readRate({ pair, sources }: RateSources, asking: Asking): Promise<Reading<bigint>> {
  const rate = decidePrice(await askSources(sources, asking), asking);
  if (rate.kind === "price") return read(rate.price);
  const detail = `no rate of ${pair} to convert by`;
  return rate.kind === "busy" ? throttled(detail, rate.retryAfter) : failed("no_rate", detail);
}

/** A price times a rate, both scaled by 10^18, rounded to the nearest, ties to even. */
function convert(quote: Reading<Quote>, rate: Reading<bigint>): Reading<Quote> {
  if (!quote.ok) return quote;
  if (!rate.ok) return rate;
  return read({ ...quote.value, price: multiply(quote.value.price, rate.value) });
}

/** The product of two numbers scaled by 10^18, scaled alike: to the nearest, ties to even. */
export function multiply(left: bigint, right: bigint): bigint {
  const product = left * right;
  const floor = product / E18;
  const twice = (product % E18) * 2n;
  return twice > E18 || (twice === E18 && floor % 2n === 1n) ? floor + 1n : floor;
}

/** An exchange without trades may answer 0, which is no price. */
function refuseZero(reading: Reading<Quote>): Reading<Quote> {
  return reading.ok && reading.value.price === 0n ? failed("zero", "says 0, which is no price") : reading;
}

/**
 * The median over the sources that can be used, unless they are fewer than `minSources`: without those that failed,
 * whose quote is too old, or whose price lies too far from the median of all that are left.
 */
export function decidePrice(
  answers: readonly SourceAnswer[],
  { policy, at }: Pick<Asking, "policy" | "at">,
): ExplainedPrice {
  const sources = dropOutliers(
    answers.map((answer) => dropByAge(answer, policy, at)),
    policy,
  );
  const prices = pricesOf(sources);
  if (prices.length >= policy.minSources) return { kind: "price", price: median(prices), sources };
  const waits = answers.flatMap(({ reading }) => (reading.ok ? [] : (reading.retryAfter ?? [])));
  // When as many as are missing can be asked again.
  const retryAfter = waits.toSorted((a, b) => a - b)[policy.minSources - prices.length - 1];
  if (retryAfter === undefined) return { kind: "no_price", sources };
  return { kind: "busy", retryAfter: Math.ceil(retryAfter), sources };
}

function dropByAge({ source, reading }: SourceAnswer, { maxQuoteAge }: Policy, at: bigint): SourceUse {
  if (!reading.ok) return { source, quote: null, dropped: { reason: reading.failure, detail: reading.detail } };
  const quote = reading.value;
  const use = (reason: DropReason, detail: string) => ({ source, quote, dropped: { reason, detail } });
  const age = quote.quotedAt === null ? 0n : at - quote.quotedAt;
  if (age > BigInt(maxQuoteAge)) return use("too_old", `was made ${age} s ago, more than ${maxQuoteAge} s`);
  if (-age > BigInt(maxQuoteAge)) return use("from_the_future", `is to be made in ${-age} s`);
  return { source, quote, dropped: null };
}

function dropOutliers(sources: readonly SourceUse[], { maxDeviationBps }: Policy): SourceUse[] {
  const prices = pricesOf(sources);
  if (prices.length === 0) return [...sources];
  const middle = median(prices);
  return sources.map((use) => {
    if (use.dropped !== null || use.quote === null) return use;
    const distance = use.quote.price > middle ? use.quote.price - middle : middle - use.quote.price;
    if (distance * 10_000n <= BigInt(maxDeviationBps) * middle) return use;
    const detail = `lies more than ${maxDeviationBps} basis points from the median`;
    return { ...use, dropped: { reason: "outlier", detail } };
  });
}

const pricesOf = (sources: readonly SourceUse[]) =>
  sources.flatMap(({ quote, dropped }) => (quote !== null && dropped === null ? [quote.price] : []));
