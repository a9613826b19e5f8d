import { TypeBoxValidatorCompiler } from "@fastify/type-provider-typebox";
import { TypeGuard } from "@sinclair/typebox";

/** A whole number in decimal digits: at most 16 of them, without leading zeros. */
const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Compiles the validator of a part of a request. In queries it refuses integers in another notation than decimal digits:
 * TypeBox's own validator, which converts the text of queries, would read "1e1" as 10 and "1.5" as 1.
 */
export const compileValidator: typeof TypeBoxValidatorCompiler = (route) => {
  const validate = TypeBoxValidatorCompiler(route);
  const { schema, httpPart } = route;
  if (httpPart !== "querystring" || !TypeGuard.IsObject(schema)) return validate;
  const names = Object.keys(schema.properties).filter((name) => TypeGuard.IsInteger(schema.properties[name]));
  return (query) => {
    const wrong = names.filter((name) => query[name] !== undefined && !INTEGER.test(String(query[name])));
    return validate({ ...query, ...Object.fromEntries(wrong.map((name) => [name, Number.NaN])) });
  };
};
