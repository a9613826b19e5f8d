import type { SourceSpec } from "@dataset-oracle/protocol/request-spec";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { FetchRequest } from "@dataset-oracle/service/untrusted/fetch-text";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { type BoundPath, type Budget, compileJsonPath, findOne, type JsonPath } from "./json-path.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";
import {
  compileBody,
  compileUrl,
  problemOfTemplateValue,
  type Template,
  type TemplateValues,
  type UrlTemplate,
} from "./request-template.js";
import type { Reading, SourceFailure } from "./source-failure.js";

/** A checked source, whose request and paths may contain variables. */
export interface Source {
  /** For example `https://api.kraken.com`. */
  readonly origin: string;
  readonly shape: ValueShape;
  /** Replaces each variable with its value; fails when a value cannot be used where its variable stands. */
  bind(values: TemplateValues): Result<BoundSource>;
}

/** A source without variables, ready to be asked. */
export interface BoundSource {
  readonly request: FetchRequest;
  /** Returns the error that the source's answer names, or null. */
  findError(document: Json): SourceFailure | null;
  /** Reads the value from an answer that names no error. */
  read(document: Json): Reading<bigint>;
  /**
   * Reads the value, unless the answer names an error.
   *
   * @param budget The steps of both paths together; by default each may take `MAX_STEPS`.
   */
  extract(document: Json, budget?: Budget): Reading<bigint>;
}

/** Headers that belong to the connection, that contain credentials, or that change how an answer is read. */
const REFUSED_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|authorization|cookie|accept-encoding|range|content-type)$/;

/**
 * Checks what a schema cannot: the templates, the paths, and which settings belong to which type.
 *
 * @param variables The names of the variables, each of which must be used in the URL, the body or the path.
 * @param integers Those of the variables that are integers.
 */
export function compileSource(
  spec: SourceSpec,
  variables: readonly string[],
  integers: readonly string[] = [],
): Result<Source> {
  const shape = shapeOf(spec);
  if (!shape.ok) return shape;
  const header = Object.keys(spec.headers ?? {}).find((name) => REFUSED_HEADERS.test(name));
  if (header !== undefined) return err(`headers: a spec cannot set ${header}. Remove it.`);
  if ((spec.method === "POST") !== (spec.body !== undefined))
    return err(`body: ${spec.method === "POST" ? "POST needs a body. Add one." : "GET has no body. Remove it."}`);
  const url = compileUrl(spec.url, variables);
  if (!url.ok) return url;
  const body = spec.body === undefined ? ok(null) : compileBody(spec.body, variables);
  if (!body.ok) return body;
  const path = compileJsonPath(spec.path, variables, integers);
  if (!path.ok) return path;
  const errorPath = spec.errorPath === undefined ? ok(null) : compileJsonPath(spec.errorPath, variables, integers);
  if (!errorPath.ok) return errorPath;
  const used = [url.value, body.value, path.value].flatMap((part) => [...(part?.variables ?? [])]);
  const unused = variables.find((name) => !used.includes(name));
  if (unused !== undefined)
    return err(
      `{${unused}} is never used, so keys that differ only in it would have the same value. Use it in ` +
        "url, body or path, or remove it.",
    );
  const parts = { url: url.value, body: body.value, path: path.value, errorPath: errorPath.value };
  const bind = (values: TemplateValues) => bindSource(spec, variables, shape.value, parts, values);
  return ok({ origin: url.value.origin, shape: shape.value, bind });
}

/** What a spec's templates and paths were compiled to. */
interface SourceParts {
  readonly url: UrlTemplate;
  readonly body: Template | null;
  readonly path: JsonPath;
  readonly errorPath: JsonPath | null;
}

function bindSource(
  { method, headers = {}, throttleErrors }: SourceSpec,
  variables: readonly string[],
  shape: ValueShape,
  parts: SourceParts,
  values: TemplateValues,
): Result<BoundSource> {
  for (const name of variables) {
    const problem = problemOfTemplateValue(values[name] ?? "");
    if (problem !== null) return err(`{${name}} ${problem}.`);
  }
  const url = parts.url.fill(values);
  if (!url.ok) return url;
  const body = parts.body?.fill(values) ?? ok(null);
  if (!body.ok) return body;
  // The paths are bound when an answer is read: those of published specs only in a worker.
  let bound: { readonly path: BoundPath; readonly errorPath: BoundPath | undefined } | undefined;
  const paths = () => {
    bound ??= { path: parts.path.bind(values), errorPath: parts.errorPath?.bind(values) };
    return bound;
  };
  const findError = (document: Json, budget?: Budget) => {
    const errors = paths().errorPath?.find(document, budget) ?? ok([]);
    return errors.ok ? toFailure(errors.value, throttleErrors) : errors.error;
  };
  const read = (document: Json, budget?: Budget) => {
    const node = findOne(paths().path, document, budget);
    return node.ok ? nodeToValue(node.value, shape) : node;
  };
  const extract = (document: Json, budget?: Budget) => {
    const error = findError(document, budget);
    return error === null ? read(document, budget) : err(error);
  };
  const sent =
    body.value === null
      ? { headers }
      : { headers: { ...headers, "content-type": "application/json" }, body: body.value };
  return ok({ request: { method, url: url.value, ...sent }, findError, read, extract });
}

const MAX_ERROR = 200;

/**
 * Makes a failure from the nodes that a source's errors are at; null when there are none.
 *
 * @param throttleErrors The texts or numbers of errors that mean that the rate limit is used up.
 */
function toFailure(errors: readonly Json[], throttleErrors: readonly string[] = []): SourceFailure | null {
  if (errors.length === 0) return null;
  const texts = errors.flatMap((node) => textOf(node) ?? []);
  const detail = `says: ${texts.join(", ").slice(0, MAX_ERROR) || "an error"}`;
  return texts.some((text) => throttleErrors.includes(text))
    ? { code: "throttled", detail, retryAfter: 1 }
    : { code: "source_error", detail };
}

/** Returns the text of an error: of a list, as GraphQL has it, its first one's, and of an object its message. */
function textOf(node: Json | undefined): string | undefined {
  if (isNumber(node)) return digitsOf(node);
  if (typeof node !== "object" || node === null) return typeof node === "string" && node !== "" ? node : undefined;
  return textOf(Array.isArray(node) ? node[0] : Object.getOwnPropertyDescriptor(node, "message")?.value);
}

function shapeOf({ type, decimals, rounding, format, hash }: SourceSpec): Result<ValueShape> {
  if (type !== "string" && hash !== undefined) return err("hash: only a string has this setting. Remove it.");
  if (type === "uint") {
    if (decimals === undefined || rounding === undefined) return err("A uint needs decimals and rounding. Add both.");
    return ok({ type, decimals, rounding, format });
  }
  if (decimals !== undefined || rounding !== undefined || format !== undefined) {
    return err("decimals, rounding, format: only a uint has these settings. Remove them.");
  }
  return ok(type === "string" ? { type, hash: hash ?? false } : { type });
}
