import { type Parsed, parsed, refused } from "@dataset-oracle/protocol/parsed";
import jsonP3, { type JSONValue } from "json-p3";
import type { JsonDocument, Location } from "./document.js";
import { failed, type Reading, read } from "./result.js";

/** A checked JSONPath. */
export interface JsonPath {
  readonly text: string;
  /** The nodes that it matches, the second and later ones only as far as they are asked for. */
  find(document: JsonDocument): Iterable<Location>;
}

const STRING_LITERAL = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/**
 * Checks a JSONPath (RFC 9535). Descendant segments (`..`) and the functions match and search are refused: what they
 * cost depends on the document, which is a stranger's.
 */
export function compileJsonPath(text: string): Parsed<JsonPath> {
  const environment = new jsonP3.JSONPathEnvironment();
  for (const name of ["match", "search"]) environment.functionRegister.delete(name);
  try {
    const query = environment.compile(text);
    // In a path that compiles, ".." outside of a string is a descendant segment and nothing else.
    if (text.replace(STRING_LITERAL, "''").includes("..")) return refused(`${text}: ".." is not allowed.`);
    return parsed({
      text,
      *find({ plain }) {
        for (const node of query.lazyQuery(plain as JSONValue)) yield node.location;
      },
    });
  } catch (error) {
    return refused(`${text} is not a JSONPath that can be used here: ${(error as Error).message}.`);
  }
}

/** The one node that a path must match: `no_node` and `several_nodes` are failures, never a value. */
export function findOne(path: JsonPath, document: JsonDocument): Reading<Location> {
  let found: Location | undefined;
  for (const location of path.find(document)) {
    if (found !== undefined) return failed("several_nodes", `${path.text} matches more than one node`);
    found = location;
  }
  return found === undefined ? failed("no_node", `${path.text} matches nothing`) : read(found);
}
