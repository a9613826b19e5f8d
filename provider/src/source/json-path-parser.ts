import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { LosslessNumber } from "lossless-json";
import type { Json } from "./exact-json.js";

/** Selects a child of an object by its name, or of an array by its index, which counts from the end when negative. */
export type ChildName = string | number;

/** Compares a value with a literal: `?@.symbol == 'ETHUSDT'`. */
export interface Comparison {
  /** `@` starts at the element that is tested, `$` at the document's root. */
  readonly from: "@" | "$";
  readonly path: readonly ChildName[];
  readonly operator: "==" | "!=" | "<" | "<=" | ">" | ">=";
  readonly literal: Json;
}

export type Segment =
  | { readonly kind: "child"; readonly name: ChildName }
  | { readonly kind: "wildcard" }
  | { readonly kind: "filter"; readonly test: Comparison };

const S = String.raw`[ \t\n\r]*`;
const LETTER = String.raw`A-Za-z_\u{80}-\u{D7FF}\u{E000}-\u{10FFFF}`;
const ESCAPE = String.raw`\\(?:[bfnrt/\\]|u[0-9A-Fa-f]{4})`;

const sticky = (pattern: string) => new RegExp(pattern, "uy");

const ROOT = sticky(String.raw`\$`);
const DOT_NAME = sticky(String.raw`\.([${LETTER}][${LETTER}0-9]*)`);
const OPEN = sticky(String.raw`\[${S}`);
const CLOSE = sticky(String.raw`${S}\]`);
const WILDCARD = sticky(String.raw`\.\*|\[${S}\*${S}\]`);
const OPEN_FILTER = sticky(String.raw`\[${S}\?${S}`);
const FROM = sticky("[@$]");
const OPERATOR = sticky(`${S}(==|!=|<=|>=|<|>)${S}`);
const SINGLE_QUOTED = sticky(String.raw`'(?:[^'\\\0-\x1f]|${ESCAPE}|\\')*'`);
const DOUBLE_QUOTED = sticky(String.raw`"(?:[^"\\\0-\x1f]|${ESCAPE}|\\")*"`);
const INDEX = sticky(String.raw`0|-?[1-9]\d{0,14}`);
const NUMBER = sticky(String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`);
const WORD = sticky("true|false|null");

/**
 * Parses the part of JSONPath (RFC 9535) that sources need: names, indices, wildcards, and filters that compare one
 * value with a literal. Whatever it accepts means the same as in the standard.
 */
export function parseJsonPath(text: string): Result<readonly Segment[]> {
  const scanner = new Scanner(text);
  const segments: Segment[] = [];
  if (scanner.take(ROOT) === undefined) return unsupported(text, 0);
  while (scanner.at < text.length) {
    const start = scanner.at;
    const segment = takeSegment(scanner);
    if (segment === undefined) return unsupported(text, start);
    segments.push(segment);
  }
  return ok(segments);
}

function unsupported(text: string, at: number): Result<never> {
  const rest = text.slice(at);
  const hints = [
    ...(/^\[\s*\?\s*\(/.test(rest) ? [" Leave out the parentheses around the comparison."] : []),
    ...(rest.replace(/'[^']*'|"[^"]*"/g, "").includes("&&") ? [" A filter makes one comparison, without &&."] : []),
  ];
  return err(
    `${text}: the path is not valid at ${JSON.stringify(rest.slice(0, 24))}. A path is "$", followed by ` +
      "names (.name or ['name']), indices ([0]; [-1] is the last), wildcards ([*]) and filters that compare one value " +
      `with a literal ([?@.name == 'text'], with ==, !=, <, <=, > or >=).${hints.join("")}`,
  );
}

/** Takes tokens off the front of a text. */
class Scanner {
  at = 0;

  constructor(private readonly text: string) {}

  /** Returns the text that the sticky pattern, or its first group, matches here, and moves past the match. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at = pattern.lastIndex;
    return match[1] ?? match[0];
  }
}

function takeSegment(scanner: Scanner): Segment | undefined {
  const name = takeChildName(scanner);
  if (name !== undefined) return { kind: "child", name };
  if (scanner.take(WILDCARD) !== undefined) return { kind: "wildcard" };
  if (scanner.take(OPEN_FILTER) === undefined) return undefined;
  const test = takeComparison(scanner);
  return test !== undefined && scanner.take(CLOSE) !== undefined ? { kind: "filter", test } : undefined;
}

function takeChildName(scanner: Scanner): ChildName | undefined {
  const start = scanner.at;
  const name = scanner.take(DOT_NAME);
  if (name !== undefined) return name;
  if (scanner.take(OPEN) !== undefined) {
    const inside = takeString(scanner) ?? takeIndex(scanner);
    if (inside !== undefined && scanner.take(CLOSE) !== undefined) return inside;
  }
  scanner.at = start;
  return undefined;
}

function takeComparison(scanner: Scanner): Comparison | undefined {
  const from = scanner.take(FROM) as Comparison["from"] | undefined;
  if (from === undefined) return undefined;
  const path: ChildName[] = [];
  for (let name = takeChildName(scanner); name !== undefined; name = takeChildName(scanner)) path.push(name);
  const operator = scanner.take(OPERATOR) as Comparison["operator"] | undefined;
  const literal = operator && takeLiteral(scanner);
  return operator === undefined || literal === undefined ? undefined : { from, path, operator, literal };
}

function takeLiteral(scanner: Scanner): Json | undefined {
  const string = takeString(scanner);
  if (string !== undefined) return string;
  const word = scanner.take(WORD);
  if (word !== undefined) return JSON.parse(word);
  const digits = scanner.take(NUMBER);
  return digits === undefined ? undefined : new LosslessNumber(digits);
}

function takeIndex(scanner: Scanner): number | undefined {
  const digits = scanner.take(INDEX);
  return digits === undefined ? undefined : Number(digits);
}

function takeString(scanner: Scanner): string | undefined {
  const quoted = scanner.take(SINGLE_QUOTED) ?? scanner.take(DOUBLE_QUOTED);
  if (quoted === undefined) return undefined;
  const string: string = JSON.parse(quoted.startsWith("'") ? toDoubleQuotes(quoted) : quoted);
  return /\p{Cs}/u.test(string) ? undefined : string;
}

function toDoubleQuotes(quoted: string): string {
  const inside = quoted.slice(1, -1).replace(/\\.|"/g, (token) => {
    if (token === '"') return '\\"';
    return token === "\\'" ? "'" : token;
  });
  return `"${inside}"`;
}
