import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import { ROUNDINGS } from "./decimal.js";
import type { Json } from "./document.js";
import { compileQuoteTime, QuoteTimeSpec } from "./quote-time.js";
import type { SourceRequest } from "./reader.js";
import { type Reading, read } from "./reading.js";
import { compileSource } from "./source.js";
import { SourceSpec } from "./source-spec.js";
import type { RateLimit } from "./token-bucket.js";

const strict = { additionalProperties: false } as const;
const SYMBOL = "[A-Z0-9]{1,16}";
const PAIR = `${SYMBOL}-${SYMBOL}`;

/** A source file: where an exchange's price of a pair is read, as data. */
export const SpotSourceSpec = Type.Object(
  {
    ...Type.Omit(SourceSpec, ["hash"]).properties,
    name: Type.String({ pattern: "^[a-z0-9-]{1,32}$", description: "Names the source in logs; no two are the same." }),
    documentation: Type.String({ description: "The page that documents the answer's format." }),
    terms: Type.String({ description: "The page with the terms of use, which whoever runs a provider accepts." }),
    limits: Type.String({ description: "The documented rate limits, for people." }),
    verification: Type.String({
      description: "What of this file was checked against which page, and what was not, for people.",
    }),
    rateLimit: Type.Object(
      {
        perSecond: Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000,
          description: "Requests a second in the long run.",
        }),
        burst: Type.Integer({ minimum: 1, maximum: 1_000, description: "Requests at once." }),
      },
      { ...strict, description: "The rate limit that is kept: requests a second in the long run, and at once." },
    ),
    type: Type.Literal("uint", { description: "An unsigned integer: the price times 10^decimals." }),
    decimals: Type.Literal(18, { description: "A spot price is scaled by 10^18." }),
    rounding: Type.Union(
      ROUNDINGS.map((rounding) => Type.Literal(rounding)),
      { description: "What becomes of decimals beyond the eighteenth." },
    ),
    quoteTime: Type.Optional(QuoteTimeSpec),
    symbols: Type.Object(
      {
        case: Type.Union([Type.Literal("upper"), Type.Literal("lower")], {
          description: "In which case it writes symbols.",
        }),
        spelling: Type.Record(Type.String({ pattern: `^${SYMBOL}$` }), Type.String({ minLength: 1, maxLength: 32 }), {
          ...strict,
          description: "The source's own names of symbols, where they differ.",
        }),
        pairs: Type.Optional(
          Type.Record(Type.String({ pattern: `^${PAIR}$` }), Type.String({ minLength: 1, maxLength: 64 }), {
            ...strict,
            description: "The source's own names of pairs, where they are not its two symbols one after the other.",
          }),
        ),
      },
      { ...strict, description: "How the source spells {base} and {quote}; with pairs, {pair} takes their place." },
    ),
    convert: Type.Optional(
      Type.Record(Type.String({ pattern: `^${SYMBOL}$` }), Type.String({ pattern: `^${SYMBOL}$` }), {
        ...strict,
        description:
          "Quotes that the source does not have, and what it is asked for instead: the price is multiplied by the " +
          "measured rate of the second in the first.",
      }),
    ),
    pairs: Type.Array(Type.String({ pattern: `^${PAIR}$` }), {
      uniqueItems: true,
      description: "The pairs that are read from this source: <BASE>-<QUOTE>.",
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
  readonly pairs: ReadonlySet<string>;
  /** What a source is asked for a pair of its pairs, `<BASE>-<QUOTE>`. */
  question(pair: string): SpotQuestion;
}

/** A price as a source gave it. */
export interface Quote {
  /** Scaled by 10^18. */
  readonly price: bigint;
  /** When it was made, by the source, in whole seconds since 1970; null where the source does not say. */
  readonly quotedAt: bigint | null;
}

export interface SpotQuestion {
  readonly request: SourceRequest;
  /** The pair whose rate the price must be multiplied by, or null. */
  readonly rate: string | null;
  /** Takes the quote out of an answer. */
  read(document: Json): Reading<Quote>;
}

/** Checks what a schema can't: the templates and the paths, for each of the pairs. */
export function compileSpotSource(spec: SpotSourceSpec): Result<SpotSource> {
  const { symbols, rateLimit } = spec;
  const variables = symbols.pairs === undefined ? ["base", "quote"] : ["pair"];
  const source = compileSource(spec, variables);
  if (!source.ok) return source;
  const quoteTime = spec.quoteTime === undefined ? ok(null) : compileQuoteTime(spec.quoteTime, variables);
  if (!quoteTime.ok) return quoteTime;
  const questions = new Map<string, SpotQuestion>();
  for (const pair of spec.pairs) {
    const [base = "", quote = ""] = pair.split("-");
    const asked = spec.convert?.[quote] ?? quote;
    const values = spell(symbols, base, asked);
    const bound = source.value.bind(values);
    if (!bound.ok) return err(`${pair}: ${bound.error}`);
    const { extract } = bound.value;
    const readTime = quoteTime.value?.(values) ?? (() => read(null));
    questions.set(pair, {
      request: { ...bound.value.request, source: spec.name, rateLimit },
      rate: asked === quote ? null : `${asked}-${quote}`,
      read: (document) => {
        const price = extract(document);
        if (!price.ok) return price;
        const quotedAt = readTime(document);
        return quotedAt.ok ? read({ price: price.value, quotedAt: quotedAt.value }) : quotedAt;
      },
    });
  }
  return ok({
    spec,
    name: spec.name,
    origin: source.value.origin,
    rateLimit,
    pairs: new Set(spec.pairs),
    question: (pair) => {
      const question = questions.get(pair);
      if (question === undefined) throw new Error(`${spec.name} has no pair ${pair}.`);
      return question;
    },
  });
}

/** The variables' values for a pair, as the source writes them. */
function spell(symbols: SpotSourceSpec["symbols"], base: string, quote: string): Record<string, string> {
  const inCase = (text: string) => (symbols.case === "lower" ? text.toLowerCase() : text.toUpperCase());
  const spelled = (symbol: string) => inCase(symbols.spelling[symbol] ?? symbol);
  if (symbols.pairs === undefined) return { base: spelled(base), quote: spelled(quote) };
  return { pair: symbols.pairs[`${base}-${quote}`] ?? spelled(base) + spelled(quote) };
}
