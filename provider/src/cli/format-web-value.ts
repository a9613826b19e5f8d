import { formatValue } from "@dataset-oracle/protocol/value-text";
import type { ExplainedValue } from "../explained-value.js";
import type { WebOracleKey } from "../web-oracle/web-oracle.js";
import { describeValue, printable, type Style } from "./terminal.js";
import { resultToText, valueToJson } from "./value-output.js";

/** A Web Oracle key and its value. */
interface WebValue extends Pick<WebOracleKey, "name" | "compiled" | "request"> {
  readonly value: ExplainedValue;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
}

/** Shows a value and its sources to programs: a number in decimal, else 32 bytes in hex. */
export function webValueToJson({ name, compiled, request, value, at }: WebValue): string {
  const format = (value: bigint | null) => (value === null ? null : formatValue(compiled.kind, value));
  return valueToJson(value, at, {
    head: { key: name, title: compiled.spec.title },
    ofValue: (value) => ({ value: format(value) }),
    ofSource: (quote, index) => ({
      url: request.sources[index]?.request.url,
      value: format(quote?.value ?? null),
    }),
  });
}

/** Shows a value and its sources to people. */
export function webValueToText({ name, compiled, request, value }: WebValue, { bold, good, bad }: Style): string {
  const rows = value.sources.map(({ quote, dropped }, index) => {
    const { method = "", url = "" } = request.sources[index]?.request ?? {};
    const answer =
      quote === null
        ? bad(printable(`${dropped?.code}: ${dropped?.detail}`))
        : good(describeValue(compiled, quote.value));
    return `${method} ${url}\n  ${answer}`;
  });
  const result = resultToText(value, (known) => `value ${bold(describeValue(compiled, known))}`, bad, "no value");
  return [bold(name), printable(compiled.spec.title), ...rows, "", result].join("\n");
}
