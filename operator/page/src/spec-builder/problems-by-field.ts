import type { SpecTrial, TrialFailure, TrialStep } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import type { ReadError } from "../operator-api";
import { type SpecDraft, variableNames } from "./spec-draft";

/** The problems of a draft, by their places: JSON pointers into the spec, and `/arguments/0` for arguments. */
export type Problems = ReadonlyMap<string, string>;

export const NO_PROBLEMS: Problems = new Map();

/** The setting of a source that decides if a step succeeds. */
const SETTINGS: Readonly<Record<TrialStep, string>> = { fetched: "url", selected: "path", scaled: "path" };

/** Finds the places in a draft that an operator or a provider refuses. */
export function problemsOf({ code, detail, errors = [] }: ReadError, draft: SpecDraft): Problems {
  if (errors.length > 0) {
    return new Map(errors.map(({ property, problem }) => [placeOf(property, problem, draft), sentence(problem)]));
  }
  if (code === "invalid_arguments") {
    const index = variableNames(draft).findIndex((name) => detail.includes(`argument ${name} `));
    return new Map([[`/arguments/${Math.max(0, index)}`, detail]]);
  }
  return NO_PROBLEMS;
}

/** Finds the places of the sources' settings that gave no value. */
export function problemsOfTrial({ sources }: SpecTrial): Problems {
  return new Map(
    sources.flatMap(({ name, error }) =>
      error === null ? [] : [[`${name}/${SETTINGS[error.step]}`, sentencesOf(error)] as const],
    ),
  );
}

/** Returns why a source gave no value, and the way to fix it. */
export function sentencesOf({ message, fix }: TrialFailure): string {
  return `${sentence(message)}. ${fix}`;
}

/** Capitalizes a problem, unless it begins with a URL. One that quotes an empty text begins with ": ", which is removed. */
function sentence(text: string): string {
  const words = text.replace(/^: /, "");
  return /^\w+:\/\//.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The settings of a source whose problems begin with their name or their text. */
const NAMED = ["url", "path", "errorPath", "body", "headers", "hash", "decimals"] as const;

/**
 * Returns the place of a problem. The spec as a whole has no field: its problems are listed above the form. The problem
 * of a source begins with the name or the text of the setting that it is about.
 */
function placeOf(property: string, problem: string, { sources = [] }: SpecDraft): string {
  const [, index] = /^\/sources\/(\d+)$/.exec(property) ?? [];
  if (index === undefined) return property === "/" ? "" : property;
  const source = sources[Number(index)];
  if (problem.startsWith("A uint needs"))
    return `${property}/${source?.decimals === undefined ? "decimals" : "rounding"}`;
  const isAbout = (name: (typeof NAMED)[number]) =>
    [`${name}:`, `${name},`].some((start) => problem.startsWith(start)) ||
    (source?.[name] !== undefined && problem.startsWith(`${source[name]}:`));
  return `${property}/${NAMED.find(isAbout) ?? "url"}`;
}
