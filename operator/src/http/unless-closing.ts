import type { Operator } from "../operator.js";
import { shuttingDown } from "../problems.js";

/**
 * Throws the error of a request again, or `shutting_down` while the operator closes: that ends everything, so the error
 * says nothing about the request.
 */
export const unlessClosing =
  ({ closing }: Operator) =>
  (error: unknown): never => {
    throw closing.aborted ? shuttingDown() : error;
  };
