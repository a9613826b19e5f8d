import type { Egress } from "@dataset-oracle/service/egress/egress";
import { resultToText } from "../../cli/result-to-text.js";
import { type Style, styleOf } from "../../cli/text-style.js";
import { describeWebOracleValue } from "../../cli/web-oracle-value-text.js";
import { printable } from "../../printable.js";
import type { Reading, SourceFailure } from "../../source/source-failure.js";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import { extractValues } from "../extract-values.js";
import { type AskedSource, askSources } from "../fetch-source-answers.js";
import type { PublishableSpec } from "../publishable-spec.js";
import type { CliCommand } from "./arguments.js";
import { openEgress } from "./open-egress.js";
import { bindSpec } from "./spec-file.js";

/**
 * Runs `web-oracle try`: asks a spec's sources now, and shows the raw answers and the value.
 *
 * @throws ConfigError
 */
export async function trySpec(spec: PublishableSpec, { args, options }: CliCommand): Promise<void> {
  const bound = bindSpec(spec, args);
  const egress = openEgress(spec.compiled, options);
  try {
    const style = styleOf(process.stdout, process.env);
    const { text, hasValue } = await tryRequest(spec.compiled, bound, egress, style);
    console.log(text);
    process.exitCode = hasValue ? 0 : 1;
  } finally {
    await egress.close();
  }
}

/** The reasons why a connection failed that authors of specs meet most. */
const CONNECTION_ERRORS = new Map([
  ["ENOTFOUND", "the host name cannot be found"],
  ["ECONNREFUSED", "nothing accepts connections there"],
]);

/** Describes why a source has no value. */
function describeFailure({ code, detail }: SourceFailure): string {
  const words = CONNECTION_ERRORS.get(detail);
  return `${words === undefined ? "" : `${words}: `}${detail} (${code})`;
}

/**
 * Asks each source of a request once, with a provider's headers, deadline and size limit.
 *
 * @returns The text for the person at the terminal, and whether there is a value.
 */
export async function tryRequest(
  request: CompiledRequest,
  bound: BoundRequest,
  egress: Pick<Egress, "fetchText">,
  { bold, good, bad }: Style,
): Promise<{ readonly text: string; readonly hasValue: boolean }> {
  const asked = await askSources(bound, egress);
  const answers = asked.map(({ judged }) => judged);
  const { readings } = extractValues(bound.sources, answers);
  const sections = bound.sources.map(({ request: { method, url, body } }, index) => {
    const [{ answer }, reading] = [asked[index] as AskedSource, readings[index] as Reading<bigint>];
    const status = answer.ok ? `HTTP ${answer.value.status} ${answer.value.contentType}` : "no answer";
    const lines = [
      bold(`/sources/${index}: ${method} ${url}`),
      ...(body === undefined ? [] : [`  body:   ${printable(body)}`]),
      `  answer: ${printable(status)}`,
      ...(answer.ok ? [`  ${printable(answer.value.text).replaceAll("\n", "\n  ")}`] : []),
      reading.ok
        ? `  value:  ${good(describeWebOracleValue(request, reading.value))}`
        : `  value:  ${bad(`none: ${printable(describeFailure(reading.error))}`)}`,
    ];
    return [...lines, ""];
  });
  const combined = bound.combine(readings);
  const result = resultToText(combined, (value) => good(describeWebOracleValue(request, value)), bad, "none");
  const text = [...sections.flat(), `${bold("value:")} ${result}`].join("\n");
  return { text, hasValue: combined.kind === "value" };
}
