/** Returns a spec with a single source, unless `more` has others. */
export function specOf(title, source, more = {}) {
  const isNumber = (source.type ?? "uint") === "uint";
  return {
    title,
    variables: [],
    sources: [
      {
        method: "GET",
        path: "$.value",
        type: "uint",
        ...(isNumber && { decimals: 0, rounding: "truncate" }),
        ...source,
      },
    ],
    minSources: 1,
    combine: isNumber ? "median" : "majority",
    ...more,
  };
}

/** A variable of a spec. */
export const variable = (name, characters = "unicode") => ({
  ...{ name, type: "string", characters },
  ...{ minLength: 1, maxLength: 120 },
});
