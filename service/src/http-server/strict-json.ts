import { parseRoundTripJson } from "@dataset-oracle/protocol/parse-round-trip-json";
import type { FastifyRequest } from "fastify";
import { parse } from "lossless-json";
import { ambiguousBody, httpProblem } from "./http-problems.js";
import { ProblemError } from "./problem-error.js";

/**
 * Parses a JSON body that has only one reading: UTF-8, uncompressed, no duplicate property, and no number whose digits
 * a double would change. JSON.parse accepts the last two, so signers and callers could disagree about a request.
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

function parseJson(request: FastifyRequest, sent: string): unknown {
  if (!isPlainUtf8(request.headers)) {
    throw httpProblem("unsupported_media_type", {}, { title: "The body is compressed or not in UTF-8." });
  }
  // A byte order mark is no part of the text (RFC 8259, section 8.1), and some editors and libraries write one.
  const body = sent.replace(/^\ufeff/, "");
  if (isTooDeep(body)) throw unreadableBody(`is nested more than ${MAX_DEPTH} deep, and no valid one is`);
  // Common bodies are parsed fast; others take the strict path.
  const json = UNUSUAL_NUMBER.test(body) ? undefined : parseRoundTripJson(body);
  if (json !== undefined) return json;
  refuseAmbiguity(body);
  try {
    return JSON.parse(body);
  } catch (error) {
    throw unreadableBody(`is not JSON: ${(error as Error).message}`);
  }
}

const unreadableBody = (fact: string) => httpProblem("bad_request", {}, { detail: `The body ${fact}.` });

/** Far deeper than any body. Parsers and validators that call themselves for each level would use up the stack. */
const MAX_DEPTH = 32;

/** Tells from the text of JSON whether it is nested too deep, without calling itself. */
function isTooDeep(text: string): boolean {
  // Almost every body has fewer brackets than that.
  if (text.split(/[[{]/, MAX_DEPTH + 2).length <= MAX_DEPTH + 1) return false;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === "\\") i += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function isPlainUtf8(headers: FastifyRequest["headers"]): boolean {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const charset = type === "application/json" ? "utf-8" : /;\s*charset="?([^";\s]+)/i.exec(type)?.[1];
  return /^utf-?8$/i.test(charset ?? "utf-8") && encoding.toLowerCase() === "identity";
}

/** Matches numbers of 16 or more characters, or with an exponent, in JSON without white space; also some strings. */
const UNUSUAL_NUMBER = /(?:^|[:,[])-?(?:\d[\d.]{15}|[\d.]+[eE])/;

function refuseAmbiguity(body: string): void {
  try {
    parse(body, null, { parseNumber: exactNumber });
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const duplicate = /^Duplicate key '(.{1,64})/s.exec((error as Error).message)?.[1];
    if (duplicate !== undefined)
      throw ambiguousBody(`The property ${duplicate.replace(/'.*/s, "")} appears twice. Keep one.`);
    // JSON.parse explains every other error better.
  }
}

/**
 * Rejects numbers in any notation but plain digits, and those that a double cannot hold: 1e400 would be Infinity, and
 * 42.00000000000000000001 would be 42.
 */
function exactNumber(text: string): number {
  const isWhole = /^-?\d{1,16}$/.test(text) && BigInt(Number(text)) === BigInt(text);
  const isExact = isWhole || (/^-?\d{1,15}\.\d{1,15}$/.test(text) && String(Number(text)) === text);
  if (!isExact)
    throw ambiguousBody(
      `The number ${text.slice(0, 64)} has an exponent, trailing zeros, or more digits than a double can hold. ` +
        "Write it in plain digits, at most 15 of them.",
    );
  return Number(text);
}
