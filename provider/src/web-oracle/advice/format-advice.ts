import type { SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import type { Style } from "../../cli/text-style.js";
import { printable } from "../../printable.js";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";

type Follows = NonNullable<SpecAdvice["sources"][number]["follows"]>;

/** Writes advice for the spec's author: first the figures, then what follows from them. */
export function adviceToText(
  { spec, type }: CompiledRequest,
  bound: BoundRequest,
  advice: SpecAdvice,
  { bold, good, bad }: Style,
): string {
  const { samples, readings, with_value, interval_seconds, steps, source_agreement: agreement, sources } = advice;
  const isNumber = type === "uint";
  const lines = sources.flatMap(({ name, readings, with_value, failures, steps, follows }, index) => [
    bold(`${name}: ${bound.sources[index]?.request.url}`),
    `  answered in ${with_value} of ${readings} samples${Object.entries(failures)
      .map(([code, count]) => `; ${printable(code)} in ${count}`)
      .join("")}`,
    `  changed in ${changesOf(steps, isNumber)}`,
    ...(follows === null
      ? []
      : [bad(`  shows what ${follows.name} shows, but ${follows.seconds} s later: ${distancesOf(follows, isNumber)}`)]),
  ]);
  const { farthest_bps: farthest } = agreement;
  const apart = isNumber && farthest !== 0 ? `, and were at most ${bps(farthest)} apart` : "";
  return [
    printable(spec.title),
    "",
    ...lines,
    "",
    ...providerLines(advice),
    `samples:   ${samples} in ${Math.round((samples - 1) * interval_seconds)} s, ${with_value} of ${readings} with a value`,
    sources.length === 1
      ? "sources:   one, so there is nothing to compare it with"
      : `sources:   all said the same in ${agreement.equal} of ${agreement.compared} samples${apart}`,
    `value:     ${advice.character}; changed in ${changesOf(steps, isNumber)}`,
    ...(isNumber ? toleranceTable(advice) : combinationLines(advice)),
    "",
    ...advice.conclusions.map((line) => (with_value > 0 ? good(line) : bad(line))),
  ].join("\n");
}

const bps = (amount: number | null) =>
  amount === null ? "an unlimited number of basis points (from or to 0)" : `${amount} basis points`;

function distancesOf({ distance, delayed_distance }: Follows, isNumber: boolean): string {
  if (isNumber) {
    const [now, delayed] = [distance, delayed_distance].map((mean) => bps(Number(mean.toFixed(3))));
    return `on average ${now} apart at the same time, and ${delayed} with this delay`;
  }
  const [now, delayed] = [distance, delayed_distance].map((share) => `${Math.round(100 * share)} %`);
  return `different in ${now} of the samples at the same time, and in ${delayed} with this delay`;
}

function changesOf({ count, changed, largest_bps, median_bps }: SpecAdvice["steps"], isNumber: boolean): string {
  const text = `${changed} of ${count} intervals`;
  return isNumber && changed > 0
    ? `${text}, by at most ${bps(largest_bps)} (median ${median_bps ?? "infinite"})`
    : text;
}

function providerLines({ providers, samples }: SpecAdvice): string[] {
  if (providers.length < 2) return [];
  return [
    ...providers.map(
      ({ provider, with_value }) => `${printable(provider)}: a value in ${with_value} of ${samples} samples`,
    ),
    "",
  ];
}

function toleranceTable({ tolerances, steps, providers, agreement }: SpecAdvice): string[] {
  const isCompared = providers.length > 1;
  return [
    "",
    `tolerance in basis points, and the ${isCompared ? "samples and the " : ""}intervals in which it held:`,
    ...tolerances.map(({ bps, held, steps_held }) => {
      const samples = isCompared ? `  ${held} of ${agreement.compared}` : "";
      return `  ${String(bps).padStart(4)}${samples}  ${steps_held} of ${steps.count}`;
    }),
  ];
}

function combinationLines({ combinations, readings }: SpecAdvice): string[] {
  return [
    `combine:   majority gives a value in ${combinations.majority} of ${readings} samples, equal in ${combinations.equal}`,
  ];
}
