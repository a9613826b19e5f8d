import { type IntegerOptions, type NumberOptions, type ObjectOptions, Type } from "@sinclair/typebox";

/** How much of something may be used, for example how many requests may be made. */
export interface RateLimit {
  /** The sustained amount. */
  readonly perSecond: number;
  /** The amount that may be used at once. */
  readonly burst: number;
}

/** Makes the schema of a rate limit of requests, with these settings besides the usual ones. */
export function rateLimitSchema(perSecond: NumberOptions, burst: IntegerOptions, options: ObjectOptions) {
  const description = "Sustained requests per second.";
  return Type.Object(
    {
      perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description, ...perSecond }),
      burst: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: "Requests that may be made at once.",
        ...burst,
      }),
    },
    { additionalProperties: false, ...options },
  );
}
