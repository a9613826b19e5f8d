import type { App } from "@dataset-oracle/service/http-server/app";
import type { RateLimit } from "@dataset-oracle/service/http-server/rate-limit";
import { problemsByProperty, toSentence } from "@dataset-oracle/service/http-server/validation-messages";
import { type Static, type TObject, TypeGuard } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { invalidQuery } from "../problems.js";

/** A whole number in decimal digits: at most 16 of them, without leading zeros. */
const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Adds a GET route that has a rate limit of its own, so that reading does not use up a caller's allowance of data
 * requests. A query that is not valid is answered with a problem that names each wrong parameter.
 */
export function addQueryStringRoute<Query extends TObject>(
  app: App,
  path: string,
  schema: FastifySchema & { readonly querystring: Query },
  rate: RateLimit,
  handle: (request: FastifyRequest<{ Querystring: Static<Query> }>, reply: FastifyReply) => Promise<unknown>,
): void {
  const preValidation = plainIntegers(schema.querystring);
  app.get(path, { schema, config: { rate }, preValidation, attachValidation: true }, async (request, reply) => {
    checkQuery(request);
    return handle(request as FastifyRequest<{ Querystring: Static<Query> }>, reply);
  });
}

/**
 * Makes a hook that refuses integers in another notation than decimal digits. The validator, which converts the text of
 * queries, would read "1e1" as 10 and "1.5" as 1.
 */
function plainIntegers({ properties }: TObject) {
  const names = Object.keys(properties).filter((name) => TypeGuard.IsInteger(properties[name]));
  return async ({ query }: Pick<FastifyRequest, "query">): Promise<void> => {
    const values = query as Readonly<Record<string, unknown>>;
    const wrong = names.filter((name) => values[name] !== undefined && !INTEGER.test(String(values[name])));
    if (wrong.length > 0) throw invalidQuery(wrong.map((name) => `${name} must be a whole number in decimal digits.`));
  };
}

/** @throws ProblemError that names each parameter that the validator refused. */
function checkQuery({ validationError }: FastifyRequest): void {
  const failures: readonly { readonly instancePath: string; readonly message?: string }[] =
    validationError?.validation ?? [];
  if (failures.length === 0) return;
  throw invalidQuery([...problemsByProperty(failures)].map(([name, problem]) => toSentence(name, problem)));
}
