import { oneOf, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { type Static, Type } from "@sinclair/typebox";
import { rateLimitSchema } from "../rate-limit-schema.js";
import { SpreadSpec } from "./clamp-to-spread.js";
import { errorTexts, SourceSpec } from "./common-source-spec.js";
import { ROUNDINGS } from "./decimal-text.js";
import { QuoteTimeSpec } from "./read-quote-time.js";

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
    rateLimit: rateLimitSchema({}, {}, { description: "The rate limit that the provider keeps to." }),
    type: Type.Literal("uint", { description: "An unsigned integer: the price times 10^decimals." }),
    decimals: Type.Literal(18, { description: "A spot price is scaled by 10^18." }),
    rounding: oneOf(ROUNDINGS, "How digits beyond the eighteenth decimal are dropped."),
    quoteTime: Type.Optional(QuoteTimeSpec),
    spread: Type.Optional(SpreadSpec),
    pricing: Type.Optional(
      Type.String({ description: "For people: the reason for reading this source's price in this way." }),
    ),
    unknownPairErrors: errorTexts("The errors at errorPath that mean that the source does not have the pair."),
    maintenanceErrors: errorTexts("The errors at errorPath that mean that the source is closed for maintenance."),
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
