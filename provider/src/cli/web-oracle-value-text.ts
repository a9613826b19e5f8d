import { numberToHex } from "viem";
import { printable } from "../printable.js";
import type { ValueWithSources } from "../value-with-sources.js";
import type { CompiledRequest } from "../web-oracle/compile-spec.js";
import { valueText } from "../web-oracle/value-text.js";
import type { WebOracleKey } from "../web-oracle/web-oracle-key-finder.js";
import { resultToText } from "./result-to-text.js";
import type { Style } from "./text-style.js";

/** A Web Oracle key and its value. */
export interface WebOracleValue extends Pick<WebOracleKey, "name" | "compiled" | "request"> {
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
}

/** Writes a value and its sources as text, for people. */
export function webOracleValueToText(
  { name, compiled, request, value }: WebOracleValue,
  { bold, good, bad }: Style,
): string {
  const rows = value.sources.map(({ quote, dropped }, index) => {
    const { method = "", url = "" } = request.sources[index]?.request ?? {};
    const answer =
      quote === null
        ? bad(printable(`${dropped?.code}: ${dropped?.detail}`))
        : good(describeWebOracleValue(compiled, quote.value));
    return `${method} ${url}\n  ${answer}`;
  });
  const result = resultToText(
    value,
    (known) => `value ${bold(describeWebOracleValue(compiled, known))}`,
    bad,
    "no value",
  );
  return [bold(name), printable(compiled.spec.title), ...rows, "", result].join("\n");
}

/** Describes a value as people read it, and as the 32 bytes that a query returns. */
export function describeWebOracleValue(request: CompiledRequest, value: bigint): string {
  const word = numberToHex(value, { size: 32 });
  const text = valueText(request, value);
  if (text === word) return word;
  // Quotes show where a string begins and ends.
  const shown = request.type === "string" ? JSON.stringify(text) : text;
  return `${printable(shown)}  (${word})`;
}
