import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import type { TokenBucketLimit } from "../token-bucket.js";
import { compileSpreadClamp, SpreadSpec } from "./clamp-to-spread.js";
import { compileSource } from "./compile-source.js";
import { ROUNDINGS } from "./decimal.js";
import type { Json } from "./exact-json.js";
import { compileQuoteTime, QuoteTimeSpec } from "./quote-time.js";
import type { Reading } from "./source-failure.js";
import type { FileRequest } from "./source-request.js";
import { errorTexts, SourceSpec } from "./source-spec.js";

const strict = { additionalProperties: false } as const;
const SYMBOL = "[A-Z0-9]{1,16}";
const PAIR = `${SYMBOL}-${SYMBOL}`;

/** A source file: it describes, as data, where an exchange's price of a pair is read. */
export const SpotSourceSpec = Type.Object(
  {
    ...Type.Omit(SourceSpec, ["hash"]).properties,
    name: Type.String({
      pattern: "^[a-z0-9-]{1,32}$",
      description: "The source's name in logs and metrics. It must be unique.",
    }),
    documentation: Type.String({ description: "The page that documents the format of the answer." }),
    terms: Type.String({ description: "The page with the terms of use, which everyone who runs a provider accepts." }),
    limits: Type.String({ description: "For people: the documented rate limits." }),
    verification: Type.String({
      description:
        "For people: the parts of this file that were checked, the pages they were checked against, and the parts that were not.",
    }),
    rateLimit: Type.Object(
      {
        perSecond: Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000,
          description: "Sustained requests per second.",
        }),
        burst: Type.Integer({ minimum: 1, maximum: 1_000, description: "Requests that may be made at once." }),
      },
      { ...strict, description: "The rate limit that the provider keeps to." },
    ),
    type: Type.Literal("uint", { description: "An unsigned integer: the price times 10^decimals." }),
    decimals: Type.Literal(18, { description: "A spot price is scaled by 10^18." }),
    rounding: Type.Union(
      ROUNDINGS.map((rounding) => Type.Literal(rounding)),
      { description: "How digits beyond the eighteenth decimal are dropped." },
    ),
    quoteTime: Type.Optional(QuoteTimeSpec),
    spread: Type.Optional(SpreadSpec),
    pricing: Type.Optional(
      Type.String({ description: "For people: the reason for reading this source's price in this way." }),
    ),
    unknownPairErrors: errorTexts("The errors at errorPath that mean that the source does not have the pair."),
    maintenanceErrors: errorTexts("The errors at errorPath that mean that the source is closed for maintenance."),
    symbols: Type.Object(
      {
        case: Type.Union([Type.Literal("upper"), Type.Literal("lower")], {
          description: "The case in which the source writes symbols.",
        }),
        spelling: Type.Record(Type.String({ pattern: `^${SYMBOL}$` }), Type.String({ minLength: 1, maxLength: 32 }), {
          ...strict,
          description: "The source's own names of symbols, where they differ.",
        }),
        pairs: Type.Optional(
          Type.Record(Type.String({ pattern: `^${PAIR}$` }), Type.String({ minLength: 1, maxLength: 64 }), {
            ...strict,
            description: "The source's own names of pairs, where they are not simply its two symbols in a row.",
          }),
        ),
      },
      {
        ...strict,
        description: "How the source spells {base} and {quote}. With pairs, the variable is {pair} instead.",
      },
    ),
    convert: Type.Optional(
      Type.Record(Type.String({ pattern: `^${SYMBOL}$` }), Type.String({ pattern: `^${SYMBOL}$` }), {
        ...strict,
        description:
          "Quote currencies that the source does not have, and the one that is asked for instead. The price is multiplied " +
          "by the measured rate between the two.",
      }),
    ),
    pairs: Type.Array(Type.String({ pattern: `^${PAIR}$` }), {
      uniqueItems: true,
      description: "The pairs that are read from this source, as <BASE>-<QUOTE>.",
    }),
  },
  strict,
);
export type SpotSourceSpec = Static<typeof SpotSourceSpec>;

/** A checked source of spot prices. */
export interface SpotSource {
  readonly spec: SpotSourceSpec;
  readonly name: string;
  readonly origin: string;
  readonly rateLimit: TokenBucketLimit;
  readonly pairs: ReadonlySet<string>;
  /** Returns the query for one of its pairs, `<BASE>-<QUOTE>`. */
  query(pair: string): PairQuery;
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
  return ok({
    spec,
    name: spec.name,
    origin: source.value.origin,
    rateLimit,
    pairs: new Set(spec.pairs),
    query: (pair) => {
      const query = queries.get(pair);
      if (query === undefined) throw new Error(`${spec.name} has no pair ${pair}.`);
      return query;
    },
  });
}

/** Returns the variables' values for a pair, in the source's spelling. */
function spell(symbols: SpotSourceSpec["symbols"], base: string, quote: string): Record<string, string> {
  const inCase = (text: string) => (symbols.case === "lower" ? text.toLowerCase() : text.toUpperCase());
  const spelled = (symbol: string) => inCase(symbols.spelling[symbol] ?? symbol);
  if (symbols.pairs === undefined) return { base: spelled(base), quote: spelled(quote) };
  return { pair: symbols.pairs[`${base}-${quote}`] ?? spelled(base) + spelled(quote) };
}
