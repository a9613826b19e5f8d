import type { FastifyRequest } from "fastify";
import { invalidQuery } from "../problems.js";

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
