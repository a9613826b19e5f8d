import type { App } from "@dataset-oracle/service/http-server/app";
import type { RateLimit } from "@dataset-oracle/service/http-server/rate-limit";
import { type Static, type TObject, TypeGuard } from "@sinclair/typebox";
import type { FastifyRequest, FastifySchema } from "fastify";
import { invalidMember } from "../problems.js";

/** A whole number in decimal digits: at most 16 of them, without leading zeros. */
const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Adds a GET route that has a rate limit of its own, so that reading does not use up a caller's allowance of data
 * requests.
 */
export function addQueryStringRoute<Query extends TObject>(
  app: App,
  path: string,
  schema: FastifySchema & { readonly querystring: Query },
  rate: RateLimit,
  handle: (query: Static<Query>) => Promise<unknown>,
): void {
  const preValidation = plainIntegers(schema.querystring);
  app.get(path, { schema, config: { rate }, preValidation }, (request) => handle(request.query as Static<Query>));
}

/**
 * Makes a hook that refuses integers in another notation than decimal digits. The validator, which converts the text of
 * queries, would read "1e1" as 10 and "1.5" as 1.
 */
function plainIntegers({ properties }: TObject) {
  const names = Object.keys(properties).filter((name) => TypeGuard.IsInteger(properties[name]));
  return async ({ query }: Pick<FastifyRequest, "query">): Promise<void> => {
    const values = query as Readonly<Record<string, unknown>>;
    const wrong = names.find((name) => values[name] !== undefined && !INTEGER.test(String(values[name])));
    if (wrong !== undefined) throw invalidMember("invalid_query", wrong, "must be a whole number in decimal digits.");
  };
}
