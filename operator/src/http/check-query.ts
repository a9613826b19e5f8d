import { type TObject, TypeGuard } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { invalidQuery } from "../problems.js";

/** The problem of a query that is not valid, by status. */
export const INVALID_QUERY = { 400: ["invalid_query"] } as const;

/** Decimal digits of an integer that a number can hold. */
const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Makes a `preValidation` hook that refuses integers in another notation than decimal digits. The validator, which converts
 * the text of queries, would read "1e1" as 10 and "1.5" as 1.
 */
export function plainIntegers({ properties }: TObject) {
  const names = Object.keys(properties).filter((name) => TypeGuard.IsInteger(properties[name]));
  return async ({ query }: Pick<FastifyRequest, "query">): Promise<void> => {
    const values = query as Readonly<Record<string, unknown>>;
    const wrong = names.filter((name) => values[name] !== undefined && !INTEGER.test(String(values[name])));
    if (wrong.length > 0) throw invalidQuery(wrong.map((name) => `${name}: Send a whole number in decimal digits.`));
  };
}

/** A parameter that is not valid, as the validator reports it. */
interface Failure {
  readonly instancePath: string;
  readonly message?: string;
}

/**
 * Checks the query of a route with `attachValidation`.
 *
 * @throws ProblemError that names each parameter.
 */
export function checkQuery({ validationError }: Pick<FastifyRequest, "validationError">): void {
  const failures: readonly Failure[] = validationError?.validation ?? [];
  if (failures.length === 0) return;
  throw invalidQuery(failures.map(({ instancePath, message }) => `${instancePath.slice(1, 65)}: ${message}.`));
}
