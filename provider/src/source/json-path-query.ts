import jsonP3, { type JSONPathQuery } from "json-p3";
import { compareDecimals } from "./decimal.js";
import { digitsOf, isNumber, type Json, type JsonNumber, WrittenNumber } from "./document.js";

/** What may still be spent. */
export interface Budget {
  steps: number;
}

/** A path cost more than its budget. */
export class PathTooCostly extends Error {}

interface Context {
  readonly root: Json;
  readonly budget: Budget;
}

/** The nodes that a query selects from a node. */
export type Find = (node: Json, context: Context) => Json[];

type Select = (node: Json, context: Context, found: Json[]) => void;
type Test = (node: Json, context: Context) => boolean;
/** Undefined is what RFC 9535 calls Nothing. */
type Evaluate = (node: Json, context: Context) => Json | undefined;
type Expression = InstanceType<typeof jsonP3.jsonpath.expressions.FilterExpression>;
type Selector = JSONPathQuery["segments"][number]["selectors"][number];

const { expressions, selectors } = jsonP3.jsonpath;

/**
 * Makes a function of a parsed query, one that counts what it does: json-p3 parses and checks types, but its own
 * evaluation has no bound, and compares numbers as floats.
 *
 * @param text What becomes of each quoted name and string.
 */
export function compileQuery(segments: JSONPathQuery["segments"], text: (string: string) => string): Find {
  const steps = segments.map((segment) => segment.selectors.map((selector) => compileSelector(selector, text)));
  return (node, context) => {
    let nodes = [node];
    for (const selects of steps) {
      const found: Json[] = [];
      for (const each of nodes) for (const select of selects) select(each, context, found);
      nodes = found;
    }
    return nodes;
  };
}

function spend({ budget }: Context, steps = 1): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new PathTooCostly();
}

/** Comparing so many characters. */
const spendText = (context: Context, length: number) => spend(context, Math.ceil(length / 64));

const isObject = (node: Json): node is { readonly [name: string]: Json } =>
  typeof node === "object" && node !== null && !Array.isArray(node) && !(node instanceof WrittenNumber);

const isArray = (node: Json): node is readonly Json[] => Array.isArray(node);

function compileSelector(selector: Selector, text: (string: string) => string): Select {
  if (selector instanceof selectors.NameSelector) {
    const name = text(selector.name);
    return (node, context, found) => {
      spend(context);
      if (isObject(node) && Object.hasOwn(node, name)) found.push(node[name] as Json);
    };
  }
  if (selector instanceof selectors.IndexSelector) {
    const { index } = selector;
    return (node, context, found) => {
      spend(context);
      const child = isArray(node) ? node.at(index) : undefined;
      if (child !== undefined) found.push(child);
    };
  }
  if (selector instanceof selectors.SliceSelector) {
    return (node, context, found) => {
      spend(context);
      if (isArray(node)) slice(node, selector, context, found);
    };
  }
  if (selector instanceof selectors.WildcardSelector) return selectChildren(() => true);
  if (selector instanceof selectors.FilterSelector) {
    const scan = selectChildren(compileTest(selector.expression, text));
    const lookup = compileLookup(selector.expression, text);
    if (lookup === null) return scan;
    return (node, context, found) => (isArray(node) ? lookup : scan)(node, context, found);
  }
  throw new Error("a selector of no known kind");
}

function selectChildren(test: Test): Select {
  return (node, context, found) => {
    spend(context);
    if (!isArray(node) && !isObject(node)) return;
    const children: Iterable<Json> = isArray(node) ? node : Object.values(node);
    for (const child of children) {
      spend(context);
      if (test(child, context)) found.push(child);
    }
  };
}

/** What scanning an element for a member's text costs, in steps, beside comparing the text. */
const STEPS_OF_ELEMENT = 4;

/**
 * A filter for elements by a member's text, such as `?@.symbol == 'ETHUSDT'`, or null of another filter. It finds what
 * scanning finds, at the same cost, but by an index: one answer of a source serves a thousand keys.
 */
function compileLookup(expression: Expression, text: (string: string) => string): Select | null {
  if (expression instanceof expressions.LogicalExpression) return compileLookup(expression.expression, text);
  if (!(expression instanceof expressions.InfixExpression) || expression.operator !== "==") return null;
  const { left, right } = expression;
  if (!(left instanceof expressions.RelativeQuery) || !(right instanceof expressions.StringLiteral)) return null;
  const member = memberIn(left.path.segments, text);
  if (member === undefined) return null;
  const wanted = text(right.value);
  return (node, context, found) => {
    if (!isArray(node)) return;
    const matches = elementsByText(node, member).get(wanted) ?? [];
    spend(context, 1 + node.length * STEPS_OF_ELEMENT);
    spendText(context, matches.length * wanted.length);
    for (const match of matches) found.push(match);
  };
}

/** What of an element decides: a member by its name or index, or null for the element itself. */
type Member = string | number | null;

function memberIn([segment, ...more]: JSONPathQuery["segments"], text: (string: string) => string): Member | undefined {
  if (segment === undefined) return null;
  const [selector] = segment.selectors;
  if (more.length > 0) return undefined;
  if (selector instanceof selectors.NameSelector) return text(selector.name);
  return selector instanceof selectors.IndexSelector ? selector.index : undefined;
}

/** Of arrays in documents that are in use; nobody changes them. */
const INDEXES = new WeakMap<readonly Json[], Map<Member, ReadonlyMap<string, Json[]>>>();

/** An array's elements by the text that each has, as a member or itself. */
function elementsByText(array: readonly Json[], member: Member): ReadonlyMap<string, Json[]> {
  const indexes = INDEXES.get(array) ?? new Map<Member, ReadonlyMap<string, Json[]>>();
  INDEXES.set(array, indexes);
  const before = indexes.get(member);
  if (before !== undefined) return before;
  const index = new Map<string, Json[]>();
  for (const element of array) {
    const text = memberOf(element, member);
    if (typeof text !== "string") continue;
    const alike = index.get(text);
    if (alike === undefined) index.set(text, [element]);
    else alike.push(element);
  }
  indexes.set(member, index);
  return index;
}

function memberOf(node: Json, member: Member): Json | undefined {
  if (member === null) return node;
  if (typeof member === "number") return isArray(node) ? node.at(member) : undefined;
  return isObject(node) && Object.hasOwn(node, member) ? node[member] : undefined;
}

type Bounds = {
  readonly start?: number | undefined;
  readonly stop?: number | undefined;
  readonly step?: number | undefined;
};

/** As RFC 9535, section 2.3.4.2.2, has it. */
function slice(node: readonly Json[], { start, stop, step = 1 }: Bounds, context: Context, found: Json[]): void {
  if (step === 0) return;
  const { length } = node;
  const [first, last] = step > 0 ? [0, length] : [-1, length - 1];
  const clamp = (index: number) => Math.min(Math.max(index < 0 ? index + length : index, first), last);
  const from = start === undefined ? (step > 0 ? 0 : length - 1) : clamp(start);
  const to = stop === undefined ? (step > 0 ? length : -1) : clamp(stop);
  for (let i = from; step > 0 ? i < to : i > to; i += step) {
    spend(context);
    found.push(node[i] as Json);
  }
}

function compileTest(expression: Expression, text: (string: string) => string): Test {
  if (expression instanceof expressions.LogicalExpression) return compileTest(expression.expression, text);
  if (expression instanceof expressions.PrefixExpression) {
    const right = compileTest(expression.right, text);
    return (node, context) => !right(node, context);
  }
  if (expression instanceof expressions.FilterQuery) {
    const find = compileNodes(expression, text);
    return (node, context) => find(node, context).length > 0;
  }
  if (expression instanceof expressions.InfixExpression) {
    const { operator } = expression;
    if (operator === "&&" || operator === "||") {
      const [left, right] = [compileTest(expression.left, text), compileTest(expression.right, text)];
      return operator === "&&"
        ? (node, context) => left(node, context) && right(node, context)
        : (node, context) => left(node, context) || right(node, context);
    }
    const compare = COMPARISONS[operator];
    if (compare === undefined) throw new Error(`an operator of no known kind: ${operator}`);
    const [left, right] = [compileValue(expression.left, text), compileValue(expression.right, text)];
    return (node, context) => {
      spend(context);
      return compare(left(node, context), right(node, context), context);
    };
  }
  throw new Error("a test of no known kind");
}

/** The nodes of a query inside a filter. */
function compileNodes(query: Expression, text: (string: string) => string): Find {
  if (!(query instanceof expressions.FilterQuery)) throw new Error("an argument that is no query");
  const find = compileQuery(query.path.segments, text);
  const isRoot = query instanceof expressions.RootQuery;
  return (node, context) => find(isRoot ? context.root : node, context);
}

function compileValue(expression: Expression, text: (string: string) => string): Evaluate {
  if (expression instanceof expressions.StringLiteral) {
    const string = text(expression.value);
    return () => string;
  }
  if (expression instanceof expressions.NumberLiteral) {
    const number = new WrittenNumber(expression.token.value);
    return () => number;
  }
  if (expression instanceof expressions.BooleanLiteral) return () => expression.value;
  if (expression instanceof expressions.NullLiteral) return () => null;
  if (expression instanceof expressions.FilterQuery) return single(compileNodes(expression, text));
  if (expression instanceof expressions.FunctionExtension) return compileFunction(expression, text);
  throw new Error("a value of no known kind");
}

/** Well-typed comparisons have queries that match one node at most. */
const single =
  (find: Find): Evaluate =>
  (node, context) => {
    const found = find(node, context);
    return found.length === 1 ? found[0] : undefined;
  };

function compileFunction(
  { name, args: [argument] }: InstanceType<typeof expressions.FunctionExtension>,
  text: (string: string) => string,
): Evaluate {
  if (argument === undefined) throw new Error(`${name} without an argument`);
  if (name === "value") return single(compileNodes(argument, text));
  if (name === "count") {
    const find = compileNodes(argument, text);
    return (node, context) => find(node, context).length;
  }
  if (name !== "length") throw new Error(`a function of no known kind: ${name}`);
  const evaluate = compileValue(argument, text);
  return (node, context) => lengthOf(evaluate(node, context), context);
}

function lengthOf(value: Json | undefined, context: Context): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") {
    spend(context, value.length);
    return [...value].length;
  }
  if (isArray(value)) return value.length;
  if (!isObject(value)) return undefined;
  const { length } = Object.keys(value);
  spend(context, length);
  return length;
}

type Compare = (left: Json | undefined, right: Json | undefined, context: Context) => boolean;

const COMPARISONS: Readonly<Record<string, Compare>> = {
  "==": (left, right, context) => equal(left, right, context),
  "!=": (left, right, context) => !equal(left, right, context),
  "<": (left, right, context) => less(left, right, context),
  ">": (left, right, context) => less(right, left, context),
  "<=": (left, right, context) => less(left, right, context) || equal(left, right, context),
  ">=": (left, right, context) => less(right, left, context) || equal(left, right, context),
};

function equal(left: Json | undefined, right: Json | undefined, context: Context): boolean {
  spend(context);
  if (left === undefined || right === undefined) return left === right;
  if (typeof left === "string" && typeof right === "string") {
    if (left.length !== right.length) return false;
    spendText(context, left.length);
    return left === right;
  }
  if (isNumber(left) && isNumber(right)) return order(left, right, context) === 0;
  if (isArray(left) && isArray(right)) {
    return left.length === right.length && left.every((item, i) => equal(item, right[i], context));
  }
  if (isObject(left) && isObject(right)) {
    const names = Object.keys(left);
    spend(context, names.length);
    if (names.length !== Object.keys(right).length) return false;
    return names.every((name) => Object.hasOwn(right, name) && equal(left[name], right[name], context));
  }
  return left === right;
}

function less(left: Json | undefined, right: Json | undefined, context: Context): boolean {
  spend(context);
  if (isNumber(left) && isNumber(right)) return order(left, right, context) < 0;
  if (typeof left !== "string" || typeof right !== "string") return false;
  spendText(context, Math.min(left.length, right.length));
  return left < right;
}

function order(left: JsonNumber, right: JsonNumber, context: Context): number {
  const [a, b] = [digitsOf(left), digitsOf(right)];
  spend(context, a.length + b.length);
  return compareDecimals(a, b);
}
