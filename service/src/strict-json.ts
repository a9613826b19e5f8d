import type { FastifyRequest } from "fastify";
import { parse } from "lossless-json";
import { ambiguousBody, unsupportedMediaType } from "./http-problems.js";
import { ProblemError } from "./problem.js";

/**
 * Parses a JSON body that can be read in one way only: UTF-8, uncompressed, no property twice, and no number whose
 * digits a double would change.
 *
 * @throws ProblemError that says what to mend.
 */
export function parseStrictJson(
  request: FastifyRequest,
  body: string,
  done: (error: Error | null, json?: unknown) => void,
): void {
  try {
    done(null, parseJson(request, body));
  } catch (error) {
    done(error as Error);
  }
}

function parseJson(request: FastifyRequest, body: string): unknown {
  if (!isPlainUtf8(request.headers)) throw unsupportedMediaType();
  const canonical = parseCanonical(body);
  if (canonical !== undefined) return canonical;
  refuseAmbiguity(body);
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new ProblemError({
      title: "The request cannot be read.",
      status: 400,
      code: "bad_request",
      detail: `The body is not JSON: ${(error as Error).message}.`,
    });
  }
}

function isPlainUtf8(headers: FastifyRequest["headers"]): boolean {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const charset = type === "application/json" ? "utf-8" : /;\s*charset="?([^";\s]+)/i.exec(type)?.[1];
  return /^utf-?8$/i.test(charset ?? "utf-8") && encoding.toLowerCase() === "identity";
}

/** A number of 16 digits or more, or with an exponent, in JSON without white space; or what looks like it in a string. */
const UNUSUAL_NUMBER = /(?:^|[:,[])-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/** What comes out as it went in has nothing twice; unusual numbers are looked at closely. */
function parseCanonical(body: string): unknown {
  if (UNUSUAL_NUMBER.test(body)) return undefined;
  try {
    const json: unknown = JSON.parse(body);
    return JSON.stringify(json) === body ? json : undefined;
  } catch {
    return undefined;
  }
}

function refuseAmbiguity(body: string): void {
  try {
    parse(body, null, { parseNumber: exactNumber });
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const duplicate = /^Duplicate key '(.{1,64})/s.exec((error as Error).message)?.[1];
    if (duplicate !== undefined) throw ambiguousBody(`A property is there twice: ${duplicate.replace(/'.*/s, "")}.`);
    // Whatever else is wrong, JSON.parse says it better.
  }
}

/** 1e400 is Infinity to a double, and 42.00000000000000000001 is 42. */
function exactNumber(text: string): number {
  const isExact = /^-?\d{1,16}$/.test(text) || (/^-?\d{1,15}\.\d{1,15}$/.test(text) && String(Number(text)) === text);
  if (!isExact) throw ambiguousBody(`Write numbers plainly, in digits, not ${text.slice(0, 64)}.`);
  return Number(text);
}
