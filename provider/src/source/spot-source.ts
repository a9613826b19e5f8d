import { type Parsed, parsed } from "@dataset-oracle/protocol/parsed";
import { type Static, Type } from "@sinclair/typebox";
import { ROUNDINGS } from "./decimal.js";
import type { Extraction } from "./extract.js";
import { compileJsonPath } from "./json-path.js";
import type { SourceRequest } from "./reader.js";
import { compileTemplate } from "./template.js";
import type { RateLimit } from "./token-bucket.js";

const strict = { additionalProperties: false } as const;
const SYMBOL = "[A-Z0-9]{1,16}";

/** A source file: where an exchange's price of a pair is read, as data. */
export const SpotSourceSpec = Type.Object(
  {
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
    method: Type.Literal("GET"),
    url: Type.String({ description: "https url, with {base} and {quote} in its path or query." }),
    headers: Type.Record(Type.String({ pattern: "^[a-z][a-z0-9-]*$" }), Type.String(), {
      ...strict,
      default: {},
      description: "Request headers. No secrets: this file is public.",
    }),
    path: Type.String({ description: "JSONPath (RFC 9535) of the price; it must match exactly one node." }),
    errorPath: Type.Optional(
      Type.String({ description: "JSONPath of the source's own error; an answer that has one gives no price." }),
    ),
    throttleErrors: Type.Array(Type.String(), {
      default: [],
      description: "The errors there that say that the rate limit is used up.",
    }),
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
  readonly extraction: Extraction;
  /** The request for a pair, `<BASE>-<QUOTE>`. */
  request(pair: string): SourceRequest;
}

/** Checks what a schema can't: the url template and the paths. */
export function compileSpotSource(spec: SpotSourceSpec): Parsed<SpotSource> {
  const template = compileTemplate(spec.url, ["base", "quote"]);
  if (!template.ok) return template;
  const path = compileJsonPath(spec.path);
  if (!path.ok) return path;
  const errorPath = spec.errorPath === undefined ? parsed(null) : compileJsonPath(spec.errorPath);
  if (!errorPath.ok) return errorPath;
  const spell = (symbol = "") => {
    const spelled = spec.symbols.spelling[symbol] ?? symbol;
    return spec.symbols.case === "lower" ? spelled.toLowerCase() : spelled.toUpperCase();
  };
  return parsed({
    name: spec.name,
    origin: template.value.origin,
    rateLimit: spec.rateLimit,
    pairs: new Set(spec.pairs),
    extraction: {
      path: path.value,
      errorPath: errorPath.value,
      throttleErrors: spec.throttleErrors,
      decimals: spec.decimals,
      rounding: spec.rounding,
    },
    request: (pair) => {
      const [base, quote] = pair.split("-");
      const url = template.value.fill({ base: spell(base), quote: spell(quote) });
      return { method: spec.method, url, headers: spec.headers, rateLimit: spec.rateLimit };
    },
  });
}
