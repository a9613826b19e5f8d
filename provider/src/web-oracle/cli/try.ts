import type { Egress } from "@dataset-oracle/service/egress/egress";
import { describeValue, printable, type Style } from "../../cli/terminal.js";
import { judgeAnswer } from "../../source/answer.js";
import { MAX_BYTES, SOURCE_MS, USER_AGENT } from "../../source/reader.js";
import type { Reading } from "../../source/reading.js";
import type { BoundRequest, CompiledRequest } from "../compile.js";

/**
 * Asks each source of a request once, as a provider does, and says what it answered and what that yields.
 *
 * @returns The text for the person at the terminal, and whether there is a value.
 */
export async function tryRequest(
  request: CompiledRequest,
  bound: BoundRequest,
  egress: Pick<Egress, "fetchText">,
  { bold, good, bad }: Style,
): Promise<{ readonly text: string; readonly isValue: boolean }> {
  const asked = await Promise.all(
    bound.sources.map(async ({ request: { headers, ...rest }, extract }, index) => {
      const sent = { ...rest, headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers } };
      const answer = await egress.fetchText(sent, { timeoutMs: SOURCE_MS, maxBytes: MAX_BYTES });
      const judged = judgeAnswer(answer, Date.now());
      const reading: Reading<bigint> = judged.ok ? extract(judged.value.document) : judged;
      const status = answer.ok ? `HTTP ${answer.status} ${answer.contentType}` : "no answer";
      const lines = [
        bold(`/sources/${index}: ${rest.method} ${rest.url}`),
        ...(rest.body === undefined ? [] : [`  body:   ${printable(rest.body)}`]),
        `  answer: ${printable(status)}`,
        ...(answer.ok ? [`  ${printable(answer.text).replaceAll("\n", "\n  ")}`] : []),
        reading.ok
          ? `  value:  ${good(describeValue(request, reading.value))}`
          : `  value:  ${bad(`none: ${printable(reading.detail)} (${reading.failure})`)}`,
      ];
      return { reading, lines };
    }),
  );
  const combined = bound.combine(asked.map(({ reading }) => reading));
  const isValue = combined.kind === "value";
  const result = isValue
    ? good(describeValue(request, combined.value))
    : bad(
        combined.kind === "busy"
          ? `unknown: sources are busy, try again in ${combined.retryAfter} s`
          : `none: ${combined.reason}`,
      );
  return { text: [...asked.flatMap(({ lines }) => [...lines, ""]), `${bold("value:")} ${result}`].join("\n"), isValue };
}
