import { err, ok, type Result } from "@dataset-oracle/protocol/result";

/** A request spec while it is written: anything can be missing or wrong. A provider's engine checks it. */
export interface SpecDraft extends Draft {
  readonly unit?: Draft;
  readonly variables?: readonly Draft[];
  readonly sources?: readonly Draft[];
}

/** A part of a draft. */
export type Draft = Readonly<Record<string, unknown>>;

export const NEW_VARIABLE: Draft = { name: "", type: "string", characters: "unicode", minLength: 1, maxLength: 40 };
const NEW_SOURCE: Draft = { method: "GET", url: "", path: "$.", type: "uint", decimals: 2, rounding: "half-even" };

export const EMPTY_DRAFT: SpecDraft = {
  title: "",
  variables: [],
  sources: [NEW_SOURCE],
  minSources: 1,
  combine: "median",
};

/** A spec of the API that a devnet simulates. */
export const EXAMPLE_DRAFT: SpecDraft = {
  title: "The air temperature in a city, to a tenth of a kelvin",
  unit: { symbol: "K", decimals: 1 },
  variables: [{ ...NEW_VARIABLE, name: "city" }],
  sources: [
    {
      ...NEW_SOURCE,
      url: "https://api.weather.example/now?city={city}",
      path: "$.air.kelvin",
      errorPath: "$.error",
      decimals: 1,
    },
  ],
  minSources: 1,
  combine: "median",
};

/** The arguments with which the example has a value. */
export const EXAMPLE_ARGUMENTS = ["London"];

export const draftToText = (draft: SpecDraft) => JSON.stringify(draft, null, 2);

/** Parses a draft. Fails if it is not JSON, or if its parts do not have the shape that the form can edit. */
export function parseDraft(text: string): Result<SpecDraft> {
  let draft: unknown;
  try {
    draft = JSON.parse(text);
  } catch (error) {
    return err(`This is not JSON: ${(error as Error).message}.`);
  }
  if (!isObject(draft)) return err('A request spec is a JSON object. Begin with "{".');
  for (const name of ["variables", "sources"]) {
    const list = draft[name];
    if (list !== undefined && !(Array.isArray(list) && list.every(isObject)))
      return err(`"${name}" must be a list of objects.`);
  }
  if (draft.unit !== undefined && !isObject(draft.unit))
    return err('"unit" must be an object with "symbol" and "decimals".');
  return ok(draft as SpecDraft);
}

const isObject = (value: unknown): value is Draft =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a part with another value of a property. Undefined removes it. */
export function withProperty<T extends Draft>(part: T, name: string, value: unknown): T {
  const { [name]: _, ...rest } = part;
  // A property that was there keeps its place.
  return (value === undefined ? rest : { ...part, [name]: value }) as T;
}

/** Reads what was typed as a whole number. Anything else is kept, for the engine to report. */
export function parseWholeNumber(typed: string): number | string | undefined {
  if (typed === "") return undefined;
  return /^\d{1,9}$/.test(typed) ? Number(typed) : typed;
}

/** Returns the type of the value, which all sources share. */
export const valueTypeOf = ({ sources = [] }: SpecDraft) => String(sources[0]?.type ?? "uint");

/** Returns the scale of a number: the power of ten; undefined where sources have different ones. */
export function scaleOf({ sources = [] }: SpecDraft): unknown {
  const [first] = sources;
  return sources.every(({ decimals }) => decimals === first?.decimals) ? first?.decimals : undefined;
}

/** Gives all sources a type, with the settings that only this type has. */
export function withType(draft: SpecDraft, type: string): SpecDraft {
  const isNumber = type === "uint";
  const sources = draft.sources?.map((source) => {
    const { decimals = 2, rounding = "half-even", hash: _, ...rest } = source;
    return isNumber ? { ...rest, type, decimals, rounding } : { ...rest, type };
  });
  const combine = isNumber ? "median" : draft.combine === "median" ? "equal" : draft.combine;
  const typed = { ...draft, ...(sources && { sources }), combine };
  return isNumber ? typed : withProperty(typed, "unit", undefined);
}

/** Gives all sources the same value of a property. Undefined removes it. */
export function withSourceProperty(draft: SpecDraft, name: string, value: unknown): SpecDraft {
  const sources = draft.sources?.map((source) => withProperty(source, name, value));
  return { ...draft, ...(sources && { sources }) };
}

/** Gives all sources a scale, and the unit the same. */
export function withScale(draft: SpecDraft, decimals: unknown): SpecDraft {
  const unit = draft.unit && { unit: withProperty(draft.unit, "decimals", decimals) };
  return { ...withSourceProperty(draft, "decimals", decimals), ...unit };
}

/** Gives the value a unit; an empty symbol removes it. */
export function withUnit(draft: SpecDraft, symbol: string): SpecDraft {
  if (symbol === "") return withProperty(draft, "unit", undefined);
  const { title, ...rest } = draft;
  return { title, ...rest, unit: { symbol, decimals: draft.unit?.decimals ?? scaleOf(draft) ?? 0 } };
}

/** Returns a source like the last one, with an empty URL. */
export const nextSource = ({ sources = [] }: SpecDraft): Draft => {
  const last = sources.at(-1);
  return last ? { ...last, url: "" } : NEW_SOURCE;
};

/** Returns the names of the variables, in the order of a key's arguments. */
export const variableNames = ({ variables = [] }: SpecDraft) => variables.map(({ name }) => String(name ?? ""));

/** Returns one argument for each variable; "" where none has been entered. */
export const argumentsOf = (draft: SpecDraft, entered: readonly string[]) =>
  variableNames(draft).map((_, index) => entered[index] ?? "");
