import type { Egress } from "@dataset-oracle/service/egress/egress";
import { type Style, styleOf } from "../../cli/text-style.js";
import { resultToText } from "../../cli/value-output.js";
import { describeWebOracleValue } from "../../cli/web-oracle-value-output.js";
import { printable } from "../../printable.js";
import type { Reading } from "../../source/source-failure.js";
import { type AskedSource, askSources, readingsOf, textsOf } from "../ask-sources.js";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import { extractValues } from "../extract-values.js";
import type { CliCommand } from "./arguments.js";
import { openEgress } from "./open-egress.js";
import { bindSpec, type LoadedSpec } from "./spec-file.js";

/**
 * Runs `web-oracle try`: asks a spec's sources now, and shows the raw answers and the value.
 *
 * @throws ConfigError
 */
export async function trySpec(spec: LoadedSpec, { args, options }: CliCommand): Promise<void> {
  const egress = openEgress(spec.request, options);
  const style = styleOf(process.stdout, process.env);
  const { text, hasValue } = await tryRequest(spec.request, bindSpec(spec, args), egress, style);
  await egress.close();
  console.log(text);
  process.exitCode = hasValue ? 0 : 1;
}

/**
 * Asks each source of a request once, as a provider does.
 *
 * @returns The text for the person at the terminal, and whether there is a value.
 */
export async function tryRequest(
  request: CompiledRequest,
  bound: BoundRequest,
  egress: Pick<Egress, "fetchText">,
  { bold, good, bad }: Style,
): Promise<{ readonly text: string; readonly hasValue: boolean }> {
  const answers = await askSources(bound, egress);
  const readings = readingsOf(answers, extractValues(bound.sources, textsOf(answers)).readings);
  const sections = bound.sources.map(({ request: asked }, index) => {
    const [{ answer }, reading] = [answers[index] as AskedSource, readings[index] as Reading<bigint>];
    const status = answer.ok ? `HTTP ${answer.value.status} ${answer.value.contentType}` : "no answer";
    const lines = [
      bold(`/sources/${index}: ${asked.method} ${asked.url}`),
      ...(asked.body === undefined ? [] : [`  body:   ${printable(asked.body)}`]),
      `  answer: ${printable(status)}`,
      ...(answer.ok ? [`  ${printable(answer.value.text).replaceAll("\n", "\n  ")}`] : []),
      reading.ok
        ? `  value:  ${good(describeWebOracleValue(request, reading.value))}`
        : `  value:  ${bad(`none: ${printable(reading.error.detail)} (${reading.error.code})`)}`,
    ];
    return [...lines, ""];
  });
  const combined = bound.combine(readings);
  const result = resultToText(combined, (value) => good(describeWebOracleValue(request, value)), bad, "none");
  const text = [...sections.flat(), `${bold("value:")} ${result}`].join("\n");
  return { text, hasValue: combined.kind === "value" };
}
