import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import jsonP3, { type JSONPathQuery } from "json-p3";
import { LosslessNumber } from "lossless-json";
import { compareDecimals } from "./decimal-text.js";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { compileText, type TemplateValues, type TextTemplate } from "./request-template.js";
import { failed, type Reading } from "./source-failure.js";

/**
 * The maximum number of steps for finding the nodes of a source file's path. A step is a visited node, 64 compared
 * characters of strings, or one character of compared numbers.
 */
export const MAX_STEPS = 1_000_000;

/** The steps that a look-up in an index counts for each element of the array, apart from the text of those it finds. */
const STEPS_PER_ELEMENT = 4;

/** The steps that are left; below 0 once there were too few. */
export interface Budget {
  steps: number;
}

/** Selects a child of an object by its name, or of an array by its index, which counts from the end when negative. */
type ChildName = string | number;

/** Compares a value with a literal: `?@.symbol == 'ETHUSDT'`. */
interface Comparison {
  /** `@` starts at the element that is tested, `$` at the document's root. */
  readonly from: "@" | "$";
  readonly path: readonly ChildName[];
  readonly operator: "==" | "!=" | "<" | "<=" | ">" | ">=";
  readonly literal: Json;
  /** The variable whose number replaces the literal. */
  readonly variable?: string | undefined;
}

type PathSegment =
  | { readonly kind: "child"; readonly name: ChildName }
  | { readonly kind: "wildcard" }
  | { readonly kind: "filter"; readonly test: Comparison };

/** A checked JSONPath, whose strings may contain variables. */
export interface JsonPath {
  readonly variables: ReadonlySet<string>;
  /** Replaces each variable with its value. */
  bind(values: TemplateValues): BoundPath;
}

/** A JSONPath without variables. */
export interface BoundPath {
  readonly text: string;
  /** Returns the nodes that the path matches, or the failure `path_too_costly`. */
  find(document: Json, budget?: Budget): Reading<readonly Json[]>;
}

/**
 * Checks a JSONPath of the form that `parseJsonPath` accepts. A variable, `{name}`, stands in a quoted name or string, or
 * for a filter's number, and is replaced after parsing, so that no value can change the meaning of the path. json-p3
 * parses the path and does not evaluate it, because its evaluation has no bound and compares numbers as floats.
 *
 * @param integers Those of the variables that are integers.
 */
export function compileJsonPath(
  text: string,
  variables: readonly string[] = [],
  integers: readonly string[] = [],
): Result<JsonPath> {
  const parsed = parseJsonPath(text);
  if (!parsed.ok) return parsed;
  const numbers = parsed.value.flatMap((segment) => (segment.kind === "filter" && segment.test.variable) || []);
  const other = numbers.find((name) => !integers.includes(name));
  if (other !== undefined)
    return err(`${text}: {${other}} is not a variable of the type "integer". Write '{${other}}', or change its type.`);
  const templates = new Map<string, Result<TextTemplate>>();
  for (const segment of parsed.value)
    fillSegment(segment, (string) => {
      templates.set(string, compileText(string, variables));
      return string;
    });
  const used = new Set(numbers);
  for (const template of templates.values()) {
    if (!template.ok) return err(`${text}: ${template.error}`);
    for (const name of template.value.variables) used.add(name);
  }
  const bind = (values: TemplateValues): BoundPath => {
    const fill = (string: string) => {
      const template = templates.get(string);
      return template?.ok ? template.value.fill(values, (value) => value) : string;
    };
    const segments = parsed.value.map((segment) => fillSegment(segment, fill, values));
    return { text, find: (document, budget) => findNodes(segments, text, document, budget) };
  };
  return ok({ variables: used, bind });
}

const { expressions, selectors } = jsonP3.jsonpath;

type ParsedSegment = JSONPathQuery["segments"][number];
type Selector = ParsedSegment["selectors"][number] | undefined;
type Expression = InstanceType<typeof expressions.LogicalExpression>["expression"];

/** Matches a string, or a variable in the place of a filter's literal: json-p3 reads a number of the same length. */
const STRING_OR_NUMBER = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=[=<>]\s*)\{[A-Za-z][A-Za-z0-9_]*\}(?=\s*\])/gs;

/**
 * Parses the part of JSONPath (RFC 9535) that sources need: names, indices, wildcards, and filters that compare one
 * value with a literal.
 */
function parseJsonPath(text: string): Result<readonly PathSegment[]> {
  const segments: PathSegment[] = [];
  try {
    if (/\p{Cs}/u.test(text)) return unsupported(text, "it contains half of a surrogate pair");
    const readable = text.replace(STRING_OR_NUMBER, (part) => (part[0] === "{" ? "1".padEnd(part.length) : part));
    for (const parsed of jsonP3.compile(readable).segments) {
      const segment = toSegment(parsed, text);
      if (segment === null) return unsupported(text, `${parsed} cannot be used`);
      segments.push(segment);
    }
  } catch (error) {
    return unsupported(text, (error as Error).message);
  }
  return ok(segments);
}

const unsupported = (text: string, why: string) =>
  err(
    `${text}: the path is not valid: ${why}. A path is "$", followed by names (.name or ['name']), indices ([0]; [-1] ` +
      "is the last), wildcards ([*]) and filters that make one comparison of a value with a literal " +
      "([?@.name == 'text'], with ==, !=, <, <=, > or >=) or with an integer variable ([?@.id == {id}]).",
  );

/** @param text The path, with its variables. */
function toSegment({ token, selectors: [selector, ...others] }: ParsedSegment, text: string): PathSegment | null {
  if (token.kind === jsonP3.TokenKind.DDOT || others.length > 0) return null;
  if (selector instanceof selectors.WildcardSelector) return { kind: "wildcard" };
  if (selector instanceof selectors.FilterSelector) {
    const test = toComparison(selector.expression.expression, text);
    return test && { kind: "filter", test };
  }
  const name = toChildName(selector);
  return name === null ? null : { kind: "child", name };
}

function toChildName(selector: Selector): ChildName | null {
  if (selector instanceof selectors.NameSelector) return selector.name;
  return selector instanceof selectors.IndexSelector ? selector.index : null;
}

function toComparison(test: Expression, text: string): Comparison | null {
  if (!(test instanceof expressions.InfixExpression) || !(test.left instanceof expressions.FilterQuery)) return null;
  const literal = toLiteral(test.right);
  if (literal === undefined) return null;
  // The standard lets only paths be compared that have one child at each step.
  const path = test.left.path.segments.map(({ selectors: [selector] }) => toChildName(selector) as ChildName);
  const operator = test.operator as Comparison["operator"];
  const [, variable] = (isNumber(literal) && /^\{(\w+)\}/.exec(text.slice(test.right.token.index))) || [];
  return { from: test.left instanceof expressions.RelativeQuery ? "@" : "$", path, operator, literal, variable };
}

function toLiteral(literal: Expression): Json | undefined {
  // Its value is a float, but its text has all of its digits.
  if (literal instanceof expressions.NumberLiteral) return new LosslessNumber(literal.token.value);
  if (literal instanceof expressions.NullLiteral) return null;
  const hasValue = literal instanceof expressions.StringLiteral || literal instanceof expressions.BooleanLiteral;
  return hasValue ? literal.value : undefined;
}

/** Replaces a segment's strings, and a variable that stands for a number if there are values. */
function fillSegment(segment: PathSegment, fill: (string: string) => string, values?: TemplateValues): PathSegment {
  const filled = <T>(part: T) => (typeof part === "string" ? fill(part) : part);
  if (segment.kind === "wildcard") return segment;
  if (segment.kind === "child") return { kind: "child", name: filled(segment.name) };
  const { path, literal, variable, ...test } = segment.test;
  const number = variable === undefined ? undefined : values?.[variable];
  const replaced = number === undefined ? filled(literal) : new LosslessNumber(number);
  return { kind: "filter", test: { ...test, path: path.map(filled), literal: replaced } };
}

/** Returns the one node that a path must match, or `no_node` or `several_nodes`. */
export function findOne(path: BoundPath, document: Json, budget?: Budget): Reading<Json> {
  const found = path.find(document, budget);
  if (!found.ok) return found;
  const [node] = found.value;
  if (node === undefined) return failed("no_node", `${path.text} matches nothing`);
  return found.value.length > 1 ? failed("several_nodes", `${path.text} matches more than one node`) : ok(node);
}

function findNodes(
  segments: readonly PathSegment[],
  text: string,
  document: Json,
  budget: Budget = { steps: MAX_STEPS },
): Reading<readonly Json[]> {
  let nodes: readonly Json[] = [document];
  for (const segment of segments) {
    const [only] = nodes;
    // Most paths have one node at a time, and flatMap takes three times as long.
    nodes =
      only !== undefined && nodes.length === 1
        ? select(segment, only, document, budget)
        : nodes.flatMap((node) => select(segment, node, document, budget));
  }
  return budget.steps < 0 ? failed("path_too_costly", `${text} takes more steps than it may`) : ok(nodes);
}

/** Returns false once there were too few steps: nothing more is looked at then, and what was found is not used. */
function spend(budget: Budget, steps = 1): boolean {
  budget.steps -= steps;
  return budget.steps >= 0;
}

function select(segment: PathSegment, node: Json, root: Json, budget: Budget): Json[] {
  if (!spend(budget)) return [];
  if (segment.kind === "child") {
    const child = childOf(node, segment.name);
    return child === undefined ? [] : [child];
  }
  if (segment.kind === "filter" && isArray(node)) {
    const found = lookUp(node, segment.test, budget);
    if (found !== null) return found;
  }
  const children = childrenOf(node);
  if (!spend(budget, children.length)) return [];
  return segment.kind === "wildcard"
    ? [...children]
    : children.filter((child) => matches(segment.test, child, root, budget));
}

const isArray = (node: Json | undefined): node is readonly Json[] => Array.isArray(node);

const isObject = (node: Json | undefined): node is { readonly [name: string]: Json } =>
  typeof node === "object" && node !== null && !Array.isArray(node) && !isNumber(node);

const childrenOf = (node: Json): readonly Json[] => (isArray(node) ? node : isObject(node) ? Object.values(node) : []);

function childOf(node: Json | undefined, name: ChildName): Json | undefined {
  if (typeof name === "number") return isArray(node) ? node.at(name) : undefined;
  return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
}

function matches({ from, path, operator, literal }: Comparison, element: Json, root: Json, budget: Budget): boolean {
  if (!spend(budget, path.length + 1)) return false;
  const value = path.reduce<Json | undefined>(childOf, from === "@" ? element : root);
  const order = compare(value, literal, budget);
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order === -1;
    case ">":
      return order === 1;
    case "<=":
      return order === -1 || order === 0;
    case ">=":
      return order === 1 || order === 0;
  }
}

/** Returns 0 when the values are equal, -1 or 1 when the first is smaller or larger, else null. */
function compare(left: Json | undefined, right: Json, budget: Budget): -1 | 0 | 1 | null {
  if (left !== undefined && isNumber(left) && isNumber(right)) {
    const [a, b] = [digitsOf(left), digitsOf(right)];
    if (!spend(budget, a.length + b.length)) return null;
    return Math.sign(compareDecimals(a, b)) as -1 | 0 | 1;
  }
  if (typeof left === "string" && typeof right === "string") {
    if (!spend(budget, Math.ceil(Math.min(left.length, right.length) / 64))) return null;
    return left === right ? 0 : left < right ? -1 : 1;
  }
  return left === right ? 0 : null;
}

/** Indexes of arrays by a child's text; documents never change. `null` stands for the element itself. */
const INDEXES = new WeakMap<readonly Json[], Map<ChildName | null, ReadonlyMap<string, Json[]>>>();

/**
 * Answers a filter for elements with a text, such as `?@.symbol == 'ETHUSDT'`, by an index, because one answer of a
 * source can serve a thousand keys. It finds the same elements as testing each one would, for about as many steps.
 *
 * @returns Null for any other filter.
 */
function lookUp(array: readonly Json[], test: Comparison, budget: Budget): Json[] | null {
  const { from, path, operator, literal } = test;
  if (from !== "@" || operator !== "==" || typeof literal !== "string" || path.length > 1) return null;
  const found = indexOf(array, path[0] ?? null).get(literal) ?? [];
  spend(budget, array.length * STEPS_PER_ELEMENT + found.length * Math.ceil(literal.length / 64));
  return found;
}

function indexOf(array: readonly Json[], name: ChildName | null): ReadonlyMap<string, Json[]> {
  const indexes = INDEXES.get(array) ?? new Map<ChildName | null, ReadonlyMap<string, Json[]>>();
  INDEXES.set(array, indexes);
  const known = indexes.get(name);
  if (known !== undefined) return known;
  const index = new Map<string, Json[]>();
  for (const element of array) {
    const text = name === null ? element : childOf(element, name);
    if (typeof text !== "string") continue;
    const alike = index.get(text);
    if (alike === undefined) index.set(text, [element]);
    else alike.push(element);
  }
  indexes.set(name, index);
  return index;
}
