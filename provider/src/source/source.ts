import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { FetchRequest } from "@dataset-oracle/service/fetch";
import { digitsOf, isNumber, type Json } from "./document.js";
import { type BoundPath, compileJsonPath, findOne } from "./json-path.js";
import { failed, type Reading, throttled } from "./reading.js";
import { compileBody, compileUrl } from "./request-template.js";
import type { SourceSpec } from "./source-spec.js";
import { type Values, valueProblem } from "./text-template.js";
import { toValue, type ValueShape } from "./value.js";

/** A checked source, whose request and paths may contain variables. */
export interface Source {
  /** For example `https://api.kraken.com`. */
  readonly origin: string;
  readonly shape: ValueShape;
  /** Replaces each variable with its value; fails when a value cannot be used where its variable stands. */
  bind(values: Values): Result<BoundSource>;
}

/** A source without variables, ready to be asked. */
export interface BoundSource {
  readonly request: FetchRequest;
  extract(document: Json): Reading<bigint>;
}

/** Headers that belong to the connection, that contain credentials, or that change how an answer is read. */
const REFUSED_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|authorization|cookie|accept-encoding|range|content-type)$/;

/**
 * Checks what a schema cannot: the templates, the paths, and which settings belong to which type.
 *
 * @param variables The names of the variables, each of which must be used in the URL, the body or the path.
 */
export function compileSource(spec: SourceSpec, variables: readonly string[]): Result<Source> {
  const shape = shapeOf(spec);
  if (!shape.ok) return shape;
  const header = Object.keys(spec.headers ?? {}).find((name) => REFUSED_HEADERS.test(name));
  if (header !== undefined) return err(`headers: a spec cannot set ${header}. Remove it.`);
  if ((spec.method === "POST") !== (spec.body !== undefined))
    return err(`body: ${spec.method === "POST" ? "POST needs one." : "GET has none. Remove it."}`);
  const url = compileUrl(spec.url, variables);
  if (!url.ok) return url;
  const body = spec.body === undefined ? ok(null) : compileBody(spec.body, variables);
  if (!body.ok) return body;
  const path = compileJsonPath(spec.path, variables);
  if (!path.ok) return path;
  const errorPath = spec.errorPath === undefined ? ok(null) : compileJsonPath(spec.errorPath, variables);
  if (!errorPath.ok) return errorPath;
  const used = [url.value, body.value, path.value].flatMap((part) => [...(part?.variables ?? [])]);
  const unused = variables.find((name) => !used.includes(name));
  if (unused !== undefined)
    return err(`{${unused}} is never used, so keys that differ in it would get the same answer. Use it or remove it.`);

  return ok({
    origin: url.value.origin,
    shape: shape.value,
    bind: (values) => {
      for (const name of variables) {
        const problem = valueProblem(values[name] ?? "");
        if (problem !== null) return err(`{${name}} ${problem}.`);
      }
      const filledUrl = url.value.fill(values);
      if (!filledUrl.ok) return filledUrl;
      const filledBody = body.value?.fill(values) ?? ok(null);
      if (!filledBody.ok) return filledBody;
      const extraction = {
        path: path.value.bind(values),
        errorPath: errorPath.value?.bind(values) ?? null,
        throttleErrors: spec.throttleErrors ?? [],
        shape: shape.value,
      };
      const headers = spec.headers ?? {};
      const isBodiless = filledBody.value === null;
      return ok({
        request: {
          method: spec.method,
          url: filledUrl.value,
          headers: isBodiless ? headers : { ...headers, "content-type": "application/json" },
          ...(filledBody.value !== null && { body: filledBody.value }),
        },
        extract: (document) => extract(extraction, document),
      });
    },
  });
}

function shapeOf({ type, decimals, rounding, hash }: SourceSpec): Result<ValueShape> {
  if (type !== "string" && hash !== undefined) return err("hash: only a string has this setting. Remove it.");
  if (type === "uint") {
    if (decimals === undefined || rounding === undefined) return err("A uint needs decimals and rounding. Add both.");
    return ok({ type, decimals, rounding });
  }
  if (decimals !== undefined || rounding !== undefined) {
    return err("decimals, rounding: only a uint has these settings. Remove them.");
  }
  return ok(type === "string" ? { type, hash: hash ?? false } : { type });
}

/** The rules for taking a value out of a source's answer. */
export interface Extraction {
  readonly path: BoundPath;
  /** Selects the source's own error. Any node there means that the answer has no value. */
  readonly errorPath: BoundPath | null;
  /** The errors there that mean that the source's rate limit is used up. */
  readonly throttleErrors: readonly string[];
  readonly shape: ValueShape;
}

export function extract({ path, errorPath, throttleErrors, shape }: Extraction, document: Json): Reading<bigint> {
  const error = errorPath === null ? ok(null) : findError(errorPath, document);
  if (!error.ok) return error;
  if (error.value !== null) {
    const says = `says: ${error.value}`;
    return throttleErrors.includes(error.value) ? throttled(says, 1) : failed("source_error", says);
  }
  const node = findOne(path, document);
  return node.ok ? toValue(node.value, shape) : node;
}

/** Returns the source's own error, or null when the answer has none. */
function findError(path: BoundPath, document: Json): Reading<string | null> {
  const found = path.find(document);
  if (!found.ok) return found;
  const [node] = found.value;
  if (node === undefined) return ok(null);
  const text = isNumber(node) ? digitsOf(node) : node;
  return ok(typeof text === "string" ? text.slice(0, 200) : "an error");
}
