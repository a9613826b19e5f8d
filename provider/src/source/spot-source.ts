import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { RateLimit } from "../rate-limit-schema.js";
import { compileSpreadClamp } from "./clamp-to-spread.js";
import { compileSource } from "./compile-source.js";
import type { Json } from "./exact-json.js";
import { compileQuoteTime } from "./read-quote-time.js";
import type { Reading } from "./source-failure.js";
import type { FileRequest } from "./source-request.js";
import type { SpotSourceSpec } from "./spot-source-spec.js";

/** A checked source of spot prices. */
export interface SpotSource {
  readonly spec: SpotSourceSpec;
  readonly name: string;
  readonly origin: string;
  readonly rateLimit: RateLimit;
  /** By pair, `<BASE>-<QUOTE>`. */
  readonly queries: ReadonlyMap<string, PairQuery>;
}

/** A source's value. */
export interface Quote {
  /** A spot price is scaled by 10^18. */
  readonly value: bigint;
  /** The time at which the source made it, in whole seconds since 1970; null when the source does not say. */
  readonly quotedAt: bigint | null;
}

/** The request for the price of one pair, and the reader of its answer. */
export interface PairQuery {
  readonly request: FileRequest;
  /** The pair whose rate the price must be multiplied by, for example USDT-USD, or null. */
  readonly rate: string | null;
  /** Reads the quote from the answer. */
  read(document: Json): Reading<Quote>;
}

/** Checks what a schema cannot: the templates and the paths, for each of the pairs. */
export function compileSpotSource(spec: SpotSourceSpec): Result<SpotSource> {
  const { symbols, rateLimit } = spec;
  const variables = symbols.pairs === undefined ? ["base", "quote"] : ["pair"];
  const source = compileSource(spec, variables);
  if (!source.ok) return source;
  const quoteTime = spec.quoteTime === undefined ? ok(null) : compileQuoteTime(spec.quoteTime, variables);
  if (!quoteTime.ok) return quoteTime;
  const spread = spec.spread === undefined ? ok(null) : compileSpreadClamp(spec.spread, source.value.shape, variables);
  if (!spread.ok) return spread;
  const queries = new Map<string, PairQuery>();
  for (const pair of spec.pairs) {
    const [base = "", quote = ""] = pair.split("-");
    const asked = spec.convert?.[quote] ?? quote;
    const values = spell(symbols, base, asked);
    const bound = source.value.bind(values);
    if (!bound.ok) return err(`${pair}: ${bound.error}`);
    const { extract, findError } = bound.value;
    const clamp = spread.value?.(values) ?? ((_: Json, price: bigint) => ok(price));
    const readTime = quoteTime.value?.(values) ?? (() => ok(null));
    queries.set(pair, {
      request: { ...bound.value.request, source: { name: spec.name, findError }, rateLimit },
      rate: asked === quote ? null : `${asked}-${quote}`,
      read: (document) => {
        const last = extract(document);
        const price = last.ok ? clamp(document, last.value) : last;
        if (!price.ok) return price;
        const quotedAt = readTime(document);
        return quotedAt.ok ? ok({ value: price.value, quotedAt: quotedAt.value }) : quotedAt;
      },
    });
  }
  return ok({ spec, name: spec.name, origin: source.value.origin, rateLimit, queries });
}

/** Returns the variables' values for a pair, in the source's spelling. */
function spell(symbols: SpotSourceSpec["symbols"], base: string, quote: string): Record<string, string> {
  const inCase = (text: string) => (symbols.case === "lower" ? text.toLowerCase() : text.toUpperCase());
  const spelled = (symbol: string) => inCase(symbols.spelling[symbol] ?? symbol);
  if (symbols.pairs === undefined) return { base: spelled(base), quote: spelled(quote) };
  return { pair: symbols.pairs[`${base}-${quote}`] ?? spelled(base) + spelled(quote) };
}
