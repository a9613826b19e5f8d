import { oneOf, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { ROUNDINGS, SourceSpec } from "@dataset-oracle/protocol/request-spec";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { RedirectedOrigins } from "@dataset-oracle/service/untrusted/egress";
import { type Static, Type } from "@sinclair/typebox";
import { type RateLimit, rateLimitSchema } from "../callers/rate-limit.js";
import { compileSource } from "./compile-source.js";
import type { Json } from "./exact-json.js";
import { type BoundPath, compileJsonPath, findOne } from "./json-path.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";
import { failed, type Reading } from "./source-failure.js";
import type { FileRequest } from "./source-request.js";

const UNITS = ["iso8601", "seconds", "milliseconds"] as const;

/** The place and unit of a quote's time in an answer. */
const QuoteTimeSpec = Type.Object(
  {
    path: Type.String({ description: "JSONPath of the time." }),
    unit: oneOf(UNITS, "iso8601 is a date with a time and an offset; the others count from 1970."),
  },
  { additionalProperties: false, description: "The time at which the quote was made, if the source gives it." },
);
type QuoteTimeSpec = Static<typeof QuoteTimeSpec>;

/** Reads a quote's time from an answer, in whole seconds since 1970. */
function readQuoteTime(document: Json, path: BoundPath, unit: QuoteTimeSpec["unit"]): Reading<bigint> {
  const node = findOne(path, document);
  if (!node.ok) return failed("no_quote_time", node.error.detail);
  const format = unit === "iso8601" ? unit : undefined;
  const time = nodeToValue(node.value, { type: "uint", decimals: 0, rounding: "truncate", format });
  if (!time.ok) return failed("no_quote_time", time.error.detail);
  return ok(unit === "milliseconds" ? time.value / 1_000n : time.value);
}

/** The places of the best bid and the best ask in an answer. */
const SpreadSpec = Type.Object(
  {
    bid: Type.String({ description: "JSONPath of the best bid." }),
    ask: Type.String({ description: "JSONPath of the best ask." }),
  },
  {
    additionalProperties: false,
    description:
      "The best bid and ask, if the source gives both. A price below the bid is raised to it, and one above the ask is " +
      "lowered to it.",
  },
);

/**
 * Limits a price, the last trade, to the best bid and ask. The last trade alone may be old, and lie outside of what can
 * be traded now; the middle of the spread alone would move with any order, without a trade. Without a spread it fails:
 * then nobody can trade, and the last trade may be old.
 */
function limitToSpread(price: bigint, bid: bigint | null, ask: bigint | null): Reading<bigint> {
  // A last trade of 0 means that there was none, and is refused as such.
  if (price === 0n) return ok(price);
  if (bid === null || ask === null) return failed("no_spread", "has no bid or no ask");
  if (bid > ask) return failed("no_spread", "has a bid above its ask");
  if (price < bid) return ok(bid);
  return ok(price > ask ? ask : price);
}

/** Returns the price at a path; null when an order book is empty there, which sources write as null, "" or 0. */
function priceAt(path: BoundPath, document: Json, shape: ValueShape): bigint | null {
  const node = findOne(path, document);
  const price = node.ok ? nodeToValue(node.value, shape) : node;
  return price.ok && price.value > 0n ? price.value : null;
}

const SYMBOL = "[A-Z0-9]{1,16}";
const PAIR = `${SYMBOL}-${SYMBOL}`;

/** A source file: it describes, as data, where an exchange's price of a pair is read. */
export const SpotSourceSpec = Type.Object(
  {
    ...Type.Omit(SourceSpec, ["format", "hash"]).properties,
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
    rateLimit: rateLimitSchema({}, {}, { description: "The rate limit that the provider keeps to." }),
    type: Type.Literal("uint", { description: "An unsigned integer: the price times 10^decimals." }),
    decimals: Type.Literal(18, { description: "A spot price is scaled by 10^18." }),
    rounding: oneOf(ROUNDINGS, "How digits beyond the eighteenth decimal are dropped."),
    quoteTime: Type.Optional(QuoteTimeSpec),
    spread: Type.Optional(SpreadSpec),
    pricing: Type.Optional(
      Type.String({ description: "For people: the reason for reading this source's price in this way." }),
    ),
    symbols: Type.Object(
      {
        case: oneOf(["upper", "lower"], "The case in which the source writes symbols."),
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
  readonly rateLimit: RateLimit;
  /** By pair, `<BASE>-<QUOTE>`. */
  readonly queries: ReadonlyMap<string, PairQuery>;
}

/** A source's value. */
export interface QuotedValue {
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
  read(document: Json): Reading<QuotedValue>;
}

/**
 * Checks what a schema cannot: the templates and the paths, for each of the pairs. Where the source is redirected, the
 * origin itself is not asked, so the requests have no rate limit.
 */
export function compileSpotSource(spec: SpotSourceSpec, redirectedOrigins: RedirectedOrigins = {}): Result<SpotSource> {
  const { symbols, rateLimit, quoteTime, spread } = spec;
  const variables = symbols.pairs === undefined ? ["base", "quote"] : ["pair"];
  const source = compileSource(spec, variables);
  if (!source.ok) return source;
  const { origin, shape } = source.value;
  const [time, bid, ask] = [quoteTime?.path, spread?.bid, spread?.ask].map((path) =>
    path === undefined ? null : compileJsonPath(path, variables),
  );
  for (const path of [time, bid, ask]) if (path?.ok === false) return path;
  const limit = Object.hasOwn(redirectedOrigins, origin) ? null : rateLimit;
  const queries = new Map<string, PairQuery>();
  for (const pair of spec.pairs) {
    const [base = "", quote = ""] = pair.split("-");
    const asked = spec.convert?.[quote] ?? quote;
    const values = spell(symbols, base, asked);
    const bound = source.value.bind(values);
    if (!bound.ok) return err(`${pair}: ${bound.error}`);
    const { request, read, findError } = bound.value;
    const [timePath, bidPath, askPath] = [time, bid, ask].map((path) => (path?.ok ? path.value.bind(values) : null));
    queries.set(pair, {
      request: { ...request, source: { name: spec.name, findError }, rateLimit: limit },
      rate: asked === quote ? null : `${asked}-${quote}`,
      read: (document) => {
        const last = read(document);
        if (!last.ok) return last;
        const price =
          bidPath && askPath
            ? limitToSpread(last.value, priceAt(bidPath, document, shape), priceAt(askPath, document, shape))
            : last;
        if (!price.ok) return price;
        const quotedAt = timePath && quoteTime ? readQuoteTime(document, timePath, quoteTime.unit) : ok(null);
        return quotedAt.ok ? ok({ value: price.value, quotedAt: quotedAt.value }) : quotedAt;
      },
    });
  }
  return ok({ spec, name: spec.name, origin, rateLimit, queries });
}

/** Returns the variables' values for a pair, in the source's spelling. */
function spell(symbols: SpotSourceSpec["symbols"], base: string, quote: string): Record<string, string> {
  const inCase = (text: string) => (symbols.case === "lower" ? text.toLowerCase() : text.toUpperCase());
  const spelled = (symbol: string) => inCase(symbols.spelling[symbol] ?? symbol);
  if (symbols.pairs === undefined) return { base: spelled(base), quote: spelled(quote) };
  return { pair: symbols.pairs[`${base}-${quote}`] ?? spelled(base) + spelled(quote) };
}
