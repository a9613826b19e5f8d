import { type Static, Type } from "@sinclair/typebox";

// No spaces, no control characters, nothing that is invisible or changes the direction of the text around it.
const SYMBOL = "^[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]{1,16}$";

/** The unit of a number, as a request spec states it. */
export const SpecUnit = Type.Object(
  {
    symbol: Type.String({
      pattern: SYMBOL,
      description: "The symbol of the unit, for people: 1 to 16 characters without spaces, such as K, mm or USD.",
    }),
    decimals: Type.Integer({
      minimum: 0,
      maximum: 62,
      description: "The value on chain is the number in this unit, times 10 to this power.",
    }),
  },
  { additionalProperties: false, description: "The unit and the scale of a number, for showing it to people." },
);
export type SpecUnit = Static<typeof SpecUnit>;
