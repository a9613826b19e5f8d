import type { ExplainedValue } from "../explained-value.js";
import { formatValue } from "../source/notes.js";
import type { WebOracleKey } from "../web-oracle/web-oracle.js";
import { OUTCOMES } from "./show-price.js";
import { describeValue, printable, type Style } from "./terminal.js";

/** A Web Oracle key and its value. */
export interface WebValue extends Pick<WebOracleKey, "name" | "compiled" | "request"> {
  readonly value: ExplainedValue;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
}

/** Shows a value and its sources to programs: a number in decimal, else 32 bytes in hex. */
export function webValueToJson({ name, compiled, request, value, at }: WebValue): string {
  const answer = {
    key: name,
    title: compiled.spec.title,
    outcome: OUTCOMES[value.kind],
    value: value.kind === "value" ? formatValue(value.value, compiled.kind) : null,
    at: Number(at),
    sources: value.sources.map(({ source, quote, dropped }, index) => ({
      name: source,
      url: request.sources[index]?.request.url,
      value: quote === null ? null : formatValue(quote.value, compiled.kind),
      used: dropped === null,
      reason: dropped === null ? null : dropped.code,
      detail: dropped === null ? null : dropped.detail,
    })),
  };
  return JSON.stringify(answer, null, 2);
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
  return [bold(name), printable(compiled.spec.title), ...rows, "", result()].join("\n");

  function result(): string {
    switch (value.kind) {
      case "value":
        return `value ${bold(describeValue(compiled, value.value))}`;
      case "none":
        return bad(`no value: ${value.reason}`);
      case "busy":
        return bad(`unknown: sources are at their rate limits; try again in ${value.retryAfter} s`);
    }
  }
}
