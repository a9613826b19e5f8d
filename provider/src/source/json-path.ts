import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import jsonP3 from "json-p3";
import type { Json } from "./document.js";
import { type Budget, compileQuery, PathTooCostly } from "./json-path-query.js";
import { failed, type Reading, read } from "./reading.js";
import { compileText, type TextTemplate, type Values } from "./text-template.js";

/** What finding a path's nodes may cost: a node looked at, or 64 characters of text compared, is one step. */
export const MAX_STEPS = 1_000_000;

const MAX_PATH = 1_024;

/** A checked JSONPath, in whose strings variables may stand. */
export interface JsonPath {
  readonly text: string;
  /** The names of its variables. */
  readonly variables: ReadonlySet<string>;
  /** The path with each variable's value in its place. */
  bind(values: Values): BoundPath;
}

/** A JSONPath, ready to be looked for. */
export interface BoundPath {
  /** The nodes that it matches, or `path_too_costly`. */
  find(document: Json, budget?: Budget): Reading<readonly Json[]>;
}

const STRING_LITERAL = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/**
 * Checks a JSONPath (RFC 9535). Descendant segments (`..`) and the functions match and search are refused. A variable,
 * `{name}`, stands in a quoted name or string; it is replaced after the path was parsed, so no value can change what
 * the path is.
 */
export function compileJsonPath(text: string, variables: readonly string[] = []): Result<JsonPath> {
  if (text.length > MAX_PATH) return err(`The JSONPath has ${text.length} characters, more than ${MAX_PATH}.`);
  const environment = new jsonP3.JSONPathEnvironment();
  for (const name of ["match", "search"]) environment.functionRegister.delete(name);
  try {
    const { segments } = environment.compile(text);
    // In a path that compiles, ".." outside of a string is a descendant segment and nothing else.
    if (text.replace(STRING_LITERAL, "''").includes("..")) return err(`${text}: ".." is not allowed.`);
    const templates = new Map<string, TextTemplate>();
    const problems: string[] = [];
    compileQuery(segments, (string) => {
      const template = compileText(string, variables);
      if (template.ok) templates.set(string, template.value);
      else problems.push(template.error);
      return string;
    });
    if (problems[0] !== undefined) return err(`${text}: ${problems[0]}`);
    return ok({
      text,
      variables: new Set([...templates.values()].flatMap((template) => [...template.variables])),
      bind: (values) => {
        const fill = (string: string) => templates.get(string)?.fill(values, (value) => value) ?? string;
        const find = compileQuery(segments, fill);
        return { find: (document, budget) => findWithin(find, text, document, budget) };
      },
    });
  } catch (error) {
    return err(`${text} is not a JSONPath that can be used here: ${(error as Error).message}.`);
  }
}

function findWithin(
  find: ReturnType<typeof compileQuery>,
  text: string,
  document: Json,
  budget: Budget = { steps: MAX_STEPS },
): Reading<readonly Json[]> {
  try {
    return read(find(document, { root: document, budget }));
  } catch (error) {
    // A RangeError: values too deep to be compared.
    if (error instanceof PathTooCostly || error instanceof RangeError)
      return failed("path_too_costly", `${text} costs more than can be spent on it`);
    throw error;
  }
}

/** The one node that a path must match: `no_node` and `several_nodes` are failures, never a value. */
export function findOne(path: BoundPath, text: string, document: Json): Reading<Json> {
  const found = path.find(document);
  if (!found.ok) return found;
  const [node] = found.value;
  if (node === undefined) return failed("no_node", `${text} matches nothing`);
  return found.value.length > 1 ? failed("several_nodes", `${text} matches more than one node`) : read(node);
}
