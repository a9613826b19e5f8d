import { printable, type Style } from "../../cli/terminal.js";
import type { BoundRequest, CompiledRequest } from "../compile.js";
import type { Advice, Steps } from "./advise.js";

/** Writes advice for the spec's author: first the figures, then what follows from them. */
export function adviceToText(
  { spec, type }: CompiledRequest,
  bound: BoundRequest,
  advice: Advice,
  intervalSeconds: number,
  { bold, good, bad }: Style,
): string {
  const { samples, seconds, answered, steps, agreement, sources } = advice;
  const isNumber = type === "uint";
  const lines = sources.flatMap(({ name, answered, failures, steps, follows }, index) => [
    bold(`${name}: ${bound.sources[index]?.request.url}`),
    `  answered in ${answered} of ${samples} samples${Object.entries(failures)
      .map(([code, count]) => `; ${code} in ${count}`)
      .join("")}`,
    `  changed in ${changesOf(steps, isNumber)}`,
    ...(follows === null
      ? []
      : [
          bad(
            `  shows what ${follows.name} shows, but ${follows.samples * intervalSeconds} s later: on average ` +
              `${distanceText(follows.distance, isNumber)} apart at the same time, and ` +
              `${distanceText(follows.delayedDistance, isNumber)} with this delay`,
          ),
        ]),
  ]);
  const apart = isNumber && agreement.farthestBps > 0 ? `, and were at most ${bps(agreement.farthestBps)} apart` : "";
  return [
    printable(spec.title),
    "",
    ...lines,
    "",
    `samples:   ${samples} in ${Math.round(seconds)} s, ${answered} with a value`,
    sources.length === 1
      ? "sources:   one, so there is nothing to compare it with"
      : `sources:   all said the same in ${agreement.equal} of ${agreement.compared} samples${apart}`,
    `value:     ${advice.character}; changed in ${changesOf(steps, isNumber)}`,
    ...(isNumber ? toleranceTable(advice) : combinationLines(advice)),
    "",
    ...conclusions(advice, intervalSeconds).map((line) => (advice.answered > 0 ? good(line) : bad(line))),
  ].join("\n");
}

const bps = (amount: number) => `${amount} basis points`;

const distanceText = (distance: number, isNumber: boolean) =>
  isNumber ? bps(Number(distance.toFixed(3))) : `${Math.round(100 * distance)} % of the samples`;

function changesOf({ count, changed, largestBps, medianBps }: Steps, isNumber: boolean): string {
  const text = `${changed} of ${count} intervals`;
  return isNumber && changed > 0 ? `${text}, by at most ${bps(largestBps)} (median ${medianBps})` : text;
}

function toleranceTable({ tolerances, steps }: Advice): string[] {
  return [
    "",
    "tolerance in basis points, and the intervals in which it held:",
    ...tolerances.map(({ bps, held }) => `  ${String(bps).padStart(4)}  ${held} of ${steps.count}`),
  ];
}

function combinationLines({ combinations, samples }: Advice): string[] {
  return [
    `combine:   majority gives a value in ${combinations.majority} of ${samples} samples, equal in ${combinations.equal}`,
  ];
}

/** States which way of combining fits, which tolerance, and what an author should change. */
function conclusions({ character, steps, combinations, sources, tolerances }: Advice, seconds: number): string[] {
  const apart = `Two providers that read ${seconds} s apart`;
  const late = sources.flatMap(({ name, follows }) =>
    follows === null ? [] : [`${name} is late: replace it, or expect it to disagree whenever the value changes.`],
  );
  const least = Math.ceil(steps.largestBps);
  switch (character) {
    case "no value":
      return ["No sample had a value. Try the spec with: web-oracle try"];
    case "fixed number":
      return [
        "Fits: median. The number did not change, so every tolerance held. Sample for longer to see it change.",
        ...late,
      ];
    case "drifting number":
      return [
        `Fits: median, in a dataset with a tolerance of ${least} basis points or more, which held in every interval.`,
        `Does not fit: majority. ${apart} have the same number in ${tolerances[0]?.held} of ${steps.count} cases.`,
        ...late,
      ];
    case "jumping number":
      return [
        `Fits neither: the number jumps by up to ${steps.largestBps} basis points. ${apart} disagree whenever it does.`,
        "Choose a number of a fixed time, such as a daily close, or one that is published less often.",
        ...late,
      ];
    case "fixed word":
      return [
        `Fits: majority${sources.length > 1 && combinations.equal === combinations.majority ? ", or equal" : ""}. The word did not change.`,
        ...late,
      ];
    case "changing word":
      return [
        `Fits: majority. ${apart} read different words in ${steps.changed} of ${steps.count} cases; such rounds have no value.`,
        ...late,
      ];
    case "numeric word":
      return [
        `Fits: median, with the type uint and its decimals. The words are numbers, and ${apart.toLowerCase()} read ` +
          `different ones in ${steps.changed} of ${steps.count} cases.`,
        ...late,
      ];
  }
}
