/** Returns a spec of one source or several, with a default for whatever they leave out. */
export function buildSpec(title, source, more = {}) {
  const isNumber = ({ type = "uint" }) => type === "uint";
  const sources = [source].flat().map((given) => ({
    method: "GET",
    path: "$.value",
    type: "uint",
    ...(isNumber(given) && { decimals: 0, rounding: "truncate" }),
    ...given,
  }));
  const combine = isNumber(sources[0]) ? "median" : "majority";
  return { title, variables: [], sources, minSources: 1, combine, ...more };
}

/** A variable of a spec. */
export const variable = (name, characters = "unicode") => ({
  ...{ name, type: "string", characters },
  ...{ minLength: 1, maxLength: 120 },
});
