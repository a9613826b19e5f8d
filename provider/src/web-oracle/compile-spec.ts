import { argumentProblem } from "@dataset-oracle/protocol/argument-problem";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { RequestSpec, type ValueType, variableProblem } from "@dataset-oracle/protocol/request-spec";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { schemaProblems } from "@dataset-oracle/service/config/schema-problems";
import { parseHttpsUrl } from "@dataset-oracle/service/untrusted/https-url";
import type { Hex } from "viem";
import { type BoundSource, compileSource, type Source } from "../source/compile-source.js";
import type { Reading } from "../source/source-failure.js";
import { type CombinedValue, combine } from "../value/combined-value.js";
import { parseCanonicalSpec } from "./canonical-json.js";

/** A checked request spec. */
export interface CompiledRequest {
  readonly spec: RequestSpec;
  readonly type: ValueType;
  /** The kind of the datasets that its keys belong to. */
  readonly kind: DatasetKind;
  /** The hosts that are asked, without duplicates. */
  readonly hosts: readonly string[];
  /** Fills in a key's arguments; fails when they do not fit the spec's variables. */
  bind(args: readonly string[]): Result<BoundRequest>;
}

/** A request with a key's arguments. */
export interface BoundRequest {
  readonly sources: readonly BoundSource[];
  /** @param readings One for each of the sources, in their order. */
  combine(readings: readonly Reading<bigint>[]): CombinedValue;
}

/** Checks a published spec, given as the bytes whose hash is in its keys. */
export function compileCanonicalSpec(bytes: Hex): Result<CompiledRequest> {
  const json = parseCanonicalSpec(bytes);
  return json.ok ? compileSpec(json.value) : json;
}

/** Checks a spec. The error has one line for each problem, with its place. */
export function compileSpec(json: unknown): Result<CompiledRequest> {
  const problems = schemaProblems(RequestSpec, json);
  if (problems.length > 0) return err(problems.join("\n"));
  const spec = json as RequestSpec;
  const wrong = findProblem(spec);
  if (wrong !== null) return err(wrong);
  const names = spec.variables.map(({ name }) => name);
  const integers = spec.variables.flatMap(({ name, type }) => (type === "integer" ? name : []));
  const sources: Source[] = [];
  for (const [index, source] of spec.sources.entries()) {
    const at = `/sources/${index}`;
    const compiled = compileSource(source, names, integers);
    if (!compiled.ok) return err(`${at}: ${compiled.error}`);
    const origin = parseHttpsUrl(`${compiled.value.origin}/`);
    if (!origin.ok) return err(`${at}/url: ${origin.error}`);
    sources.push(compiled.value);
  }
  const [{ shape } = { shape: { type: "uint" } as const }] = sources;
  const { type } = shape;
  return ok({
    spec,
    type,
    kind: type === "uint" ? "median" : "majority",
    hosts: [...new Set(sources.map(({ origin }) => new URL(origin).host))],
    bind: (args) => bind(spec, sources, args),
  });
}

function bind(spec: RequestSpec, sources: readonly Source[], args: readonly string[]): Result<BoundRequest> {
  const { variables, minSources } = spec;
  if (args.length !== variables.length) {
    const names = variables.map(({ name }) => name).join(", ") || "none";
    return err(
      `The spec has ${variables.length} ${variables.length === 1 ? "variable" : "variables"}: ${names}. Give one ` +
        `argument for each, not ${args.length}.`,
    );
  }
  const values: Record<string, string> = {};
  for (const [index, variable] of variables.entries()) {
    const value = args[index] ?? "";
    const problem = argumentProblem(variable, value);
    if (problem !== null) return err(`The argument ${variable.name} ${problem}.`);
    values[variable.name] = value;
  }
  const bound: BoundSource[] = [];
  for (const [index, source] of sources.entries()) {
    const one = source.bind(values);
    if (!one.ok) return err(`/sources/${index}: ${one.error}`);
    const url = parseHttpsUrl(one.value.request.url);
    if (!url.ok) return err(`/sources/${index}/url: ${url.error}`);
    bound.push(one.value);
  }
  return ok({ sources: bound, combine: (readings) => combine(readings, minSources, spec.combine) });
}

/** Returns the first problem that a schema cannot express, or null. */
function findProblem({ unit, variables, sources, minSources, combine }: RequestSpec): string | null {
  for (const [index, variable] of variables.entries()) {
    const problem = variableProblem(variable);
    if (problem !== null) return `/variables/${index}: ${problem}`;
    const same = variables.findIndex(({ name }) => name === variable.name);
    if (same !== index) return `/variables/${index}/name: two variables are named ${variable.name}. Rename one.`;
  }
  if (minSources > sources.length) {
    return `/minSources: ${minSources} is more than the number of sources, ${sources.length}. Lower it, or add sources.`;
  }
  const [first] = sources;
  const other = sources.findIndex(
    ({ type, hash }) => type !== first?.type || (hash ?? false) !== (first.hash ?? false),
  );
  if (other !== -1)
    return `/sources/${other}/type: the sources differ in type or hash. Make both the same as in /sources/0.`;
  const isNumber = first?.type === "uint";
  if (unit !== undefined && !isNumber)
    return `/unit: only a number has a unit, and this is a ${first?.type}. Remove it.`;
  if (isNumber !== (combine === "median")) {
    return `/combine: ${isNumber ? 'a uint needs "median"' : `a ${first?.type} needs "majority" or "equal"`}.`;
  }
  return null;
}
