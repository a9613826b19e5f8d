interface SpecSource {
  readonly url: string;
  readonly type?: string;
  readonly [setting: string]: unknown;
}

/** Returns a spec of one source or several, with a default for whatever they leave out. */
export function buildSpec(title: string, source: SpecSource | readonly SpecSource[], more: object = {}) {
  const isNumber = ({ type = "uint" }: SpecSource) => type === "uint";
  const given = [source].flat();
  const sources = given.map((one) => ({
    method: "GET",
    path: "$.value",
    type: "uint",
    ...(isNumber(one) && { decimals: 0, rounding: "truncate" }),
    ...one,
  }));
  const combine = given.every(isNumber) ? "median" : "majority";
  return { title, variables: [], sources, minSources: 1, combine, ...more };
}

/** A variable of a spec. */
export const variable = (name: string, characters = "unicode") => ({
  ...{ name, type: "string", characters },
  ...{ minLength: 1, maxLength: 120 },
});
