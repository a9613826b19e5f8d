import type { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";

/** States what follows from the figures: which way of combining fits, which tolerance, and what an author should change. */
export function conclusionsOf(figures: Omit<SpecAdvice, "conclusions">): string[] {
  if (figures.character === "no value") return ["No sample had a value. Try the spec to see why its sources fail."];
  return [...fitting(figures), ...betweenProviders(figures), ...lateSources(figures)];
}

function fitting({ character, steps, combinations, tolerances, ...figures }: Omit<SpecAdvice, "conclusions">) {
  const apart = `Two providers that read ${figures.interval_seconds} s apart`;
  const cases = `in ${steps.changed} of ${steps.count} cases`;
  switch (character) {
    case "fixed number":
      return ["Fits: median. The number did not change, so every tolerance held. Sample for longer to see it change."];
    case "drifting number":
      return [
        `Fits: median, in a dataset with a tolerance of ${Math.ceil(steps.largest_bps ?? 0)} basis points or more, which held in every interval.`,
        `Does not fit: majority. ${apart} have the same number in ${tolerances[0]?.steps_held} of ${steps.count} cases.`,
      ];
    case "jumping number":
      return [
        `Neither fits: the number jumps${steps.largest_bps === null ? " from or to 0" : ` by up to ${steps.largest_bps} basis points`}. ${apart} disagree whenever it does.`,
        "Choose a number as of a fixed time, such as a daily close, or one that is published less often.",
      ];
    case "fixed word": {
      const hasEqual = figures.sources.length > 1 && combinations.equal === combinations.majority;
      return [`Fits: majority${hasEqual ? ", or equal" : ""}. The value did not change.`];
    }
    case "changing word":
      return [`Fits: majority. ${apart} read different values ${cases}; such rounds have no value.`];
    case "numeric word":
      return [
        `Fits: median, with the type uint and its decimals. The values are numbers, and ${apart.toLowerCase()} read different ones ${cases}.`,
      ];
    default:
      return [];
  }
}

/** States what only several providers can show: whether they agree when they read at the same time. */
function betweenProviders({ providers, agreement, character }: Omit<SpecAdvice, "conclusions">): string[] {
  const { compared, equal, farthest_bps: farthest } = agreement;
  if (providers.length < 2) return [];
  if (compared === 0) return ["The providers cannot be compared: no two of them ever had a value at the same time."];
  const of = `of ${compared} samples`;
  if (equal === compared)
    return [`The ${providers.length} providers agree: they had the same value in ${equal} ${of}.`];
  if (!character.endsWith("number")) {
    return [
      `The ${providers.length} providers had the same value in ${equal} ${of}. In the others some would not agree.`,
    ];
  }
  const reach =
    farthest === null ? "one of them had 0" : `all were within ${Math.ceil(farthest)} basis points of the median`;
  return [`The ${providers.length} providers had the same number in ${equal} ${of}; ${reach}.`];
}

const lateSources = ({ sources }: Omit<SpecAdvice, "conclusions">) =>
  sources.flatMap(({ name, follows }) =>
    follows === null
      ? []
      : [`${name} lags behind ${follows.name}: replace it, or expect it to disagree whenever the value changes.`],
  );
