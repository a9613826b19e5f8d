import { type Parsed, parsed, refused } from "@dataset-oracle/protocol/parsed";
import { type Static, Type } from "@sinclair/typebox";
import { ROUNDINGS } from "./decimal.js";
import type { SourceRequest } from "./reader.js";
import { type BoundSource, compileSource } from "./source.js";
import { SourceSpec } from "./spec.js";
import type { RateLimit } from "./token-bucket.js";

const strict = { additionalProperties: false } as const;
const SYMBOL = "[A-Z0-9]{1,16}";

/** A source file: where an exchange's price of a pair is read, as data. */
export const SpotSourceSpec = Type.Object(
  {
    ...Type.Omit(SourceSpec, ["hash"]).properties,
    name: Type.String({ pattern: "^[a-z0-9-]{1,32}$", description: "Names the source in logs; no two are the same." }),
    documentation: Type.String({ description: "The page that documents the answer's format." }),
    terms: Type.String({ description: "The page with the terms of use, which whoever runs a provider accepts." }),
    limits: Type.String({ description: "The documented rate limits, for people." }),
    rateLimit: Type.Object(
      {
        perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000 }),
        burst: Type.Integer({ minimum: 1, maximum: 1_000 }),
      },
      { ...strict, description: "The rate limit that is kept: requests a second in the long run, and at once." },
    ),
    type: Type.Literal("uint", { description: "An unsigned integer: the price times 10^decimals." }),
    decimals: Type.Literal(18, { description: "A spot price is scaled by 10^18." }),
    rounding: Type.Union(
      ROUNDINGS.map((rounding) => Type.Literal(rounding)),
      { description: "What becomes of decimals beyond the eighteenth." },
    ),
    symbols: Type.Object(
      {
        case: Type.Union([Type.Literal("upper"), Type.Literal("lower")]),
        spelling: Type.Record(Type.String({ pattern: `^${SYMBOL}$` }), Type.String({ minLength: 1, maxLength: 32 }), {
          ...strict,
          description: "The source's own names of symbols, where they differ.",
        }),
      },
      { ...strict, description: "How the source spells {base} and {quote}." },
    ),
    pairs: Type.Array(Type.String({ pattern: `^${SYMBOL}-${SYMBOL}$` }), {
      uniqueItems: true,
      description: "The pairs that are read from this source: <BASE>-<QUOTE>.",
    }),
  },
  strict,
);
export type SpotSourceSpec = Static<typeof SpotSourceSpec>;

/** A checked source of spot prices. */
export interface SpotSource {
  readonly name: string;
  readonly origin: string;
  readonly rateLimit: RateLimit;
  readonly pairs: ReadonlySet<string>;
  /** What a source is asked for a pair of its pairs, `<BASE>-<QUOTE>`. */
  question(pair: string): SpotQuestion;
}

export interface SpotQuestion extends BoundSource {
  readonly request: SourceRequest;
}

/** Checks what a schema can't: the templates and the paths, for each of the pairs. */
export function compileSpotSource(spec: SpotSourceSpec): Parsed<SpotSource> {
  const source = compileSource(spec, ["base", "quote"]);
  if (!source.ok) return source;
  const spell = (symbol = "") => {
    const spelled = spec.symbols.spelling[symbol] ?? symbol;
    return spec.symbols.case === "lower" ? spelled.toLowerCase() : spelled.toUpperCase();
  };
  const questions = new Map<string, SpotQuestion>();
  for (const pair of spec.pairs) {
    const [base, quote] = pair.split("-");
    const bound = source.value.bind({ base: spell(base), quote: spell(quote) });
    if (!bound.ok) return refused(`${pair}: ${bound.problem}`);
    const request = { ...bound.value.request, rateLimit: spec.rateLimit };
    questions.set(pair, { ...bound.value, request });
  }
  return parsed({
    name: spec.name,
    origin: source.value.origin,
    rateLimit: spec.rateLimit,
    pairs: new Set(spec.pairs),
    question: (pair) => {
      const question = questions.get(pair);
      if (question === undefined) throw new Error(`${spec.name} has no pair ${pair}.`);
      return question;
    },
  });
}
