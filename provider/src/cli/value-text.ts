import { styleText } from "node:util";
import { formatSpotPrice } from "@dataset-oracle/protocol/client/format-spot-price";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { formatUnits, hexToString, numberToHex } from "viem";
import type { ServedKey } from "../keys/served-keys.js";
import { describeSources, OUTCOMES, reasonOf, type SourceUse, type ValueWithSources } from "../value/combined-value.js";
import type { CompiledRequest } from "../web-oracle/compile-spec.js";
import type { WebOracleKey } from "../web-oracle/web-oracle-key-finder.js";

/** A key and its value. */
export interface ReadValue {
  readonly key: Pick<ServedKey, "kind" | "name"> &
    (Pick<WebOracleKey, "kind" | "compiled" | "request"> | { readonly kind: "spot_price" });
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
}

export const kindOf = (key: ReadValue["key"]): DatasetKind =>
  key.kind === "spot_price" ? "median" : key.compiled.kind;

/**
 * Returns a value and its sources as a JSON object, for programs. A number is in decimal, other values are 32 bytes in
 * hex.
 */
export function valueToJson({ key, value, at }: ReadValue): object {
  const known = value.kind === "value" ? value.value : null;
  return {
    key: key.name,
    ...(key.kind === "web_oracle" && { title: key.compiled.spec.title }),
    outcome: OUTCOMES[value.kind],
    value: known === null ? null : formatValue(kindOf(key), known),
    ...(key.kind === "spot_price" && { price: known === null ? null : formatSpotPrice(known) }),
    at: Number(at),
    sources: describeSources(value.sources, kindOf(key)),
  };
}

/**
 * Writes a value and its sources as text, for people.
 *
 * @param answerOf Returns what a source of a request spec answered, line by line; nothing by default.
 */
export function valueToText(
  { key, value, at }: ReadValue,
  answerOf: (index: number) => readonly string[] = () => [],
): string {
  const spec = key.kind === "web_oracle" ? key : null;
  const sources = value.sources.flatMap((use, index) =>
    spec === null ? priceLine(use, at) : specSourceLines(spec, use, index, answerOf(index)),
  );
  return [
    styleText("bold", key.name),
    ...(spec === null ? [] : [printable(spec.compiled.spec.title)]),
    "",
    ...sources,
    "",
    `${styleText("bold", "value:")} ${resultText(key, value)}`,
  ].join("\n");
}

/** Writes a key's value as people read it. */
export const keyValueText = (key: ReadValue["key"], value: bigint): string =>
  key.kind === "spot_price" ? formatSpotPrice(value) : describeWebOracleValue(key.compiled, value);

function priceLine({ source, quote, dropped }: SourceUse, at: bigint): string {
  const quotedAt = quote?.quotedAt ?? null;
  const parts = [
    ...(quote === null ? [] : [formatSpotPrice(quote.value)]),
    ...(quotedAt === null ? [] : [`${at - quotedAt} s old`]),
    ...(dropped === null ? [] : [styleText("yellow", reasonOf(dropped))]),
  ];
  return `${source}: ${parts.join(", ")}`;
}

function specSourceLines(
  { compiled, request: { sources } }: Pick<WebOracleKey, "compiled" | "request">,
  { source, quote, dropped }: SourceUse,
  index: number,
  answer: readonly string[],
): string[] {
  const { method = "", url = "", body } = sources[index]?.request ?? {};
  return [
    styleText("bold", `${source}: ${method} ${url}`),
    ...(body === undefined ? [] : [`  body:   ${printable(body)}`]),
    ...answer.map((line) => `  ${line}`),
    ...(quote === null ? [] : [`  value:  ${styleText("green", describeWebOracleValue(compiled, quote.value))}`]),
    ...(dropped === null
      ? []
      : [`  value:  ${styleText("red", `none: ${dropped.code}: ${printable(dropped.detail)}`)}`]),
  ];
}

function resultText(key: ReadValue["key"], result: ValueWithSources): string {
  const { sources } = result;
  switch (result.kind) {
    case "value": {
      const used = sources.filter(({ dropped }) => dropped === null).length;
      return `${styleText("green", keyValueText(key, result.value))}, from ${used} of ${sources.length} sources`;
    }
    case "none":
      return styleText("red", `none: ${result.reason}`);
    case "busy": {
      const why = result.isOutage ? "cannot be reached" : "are at their rate limits";
      return styleText("red", `unknown: sources ${why}; try again in ${result.retryAfter} s`);
    }
  }
}

/** Describes a value as people read it, and as the 32 bytes that a query returns. */
function describeWebOracleValue(request: CompiledRequest, value: bigint): string {
  const word = numberToHex(value, { size: 32 });
  const text = valueText(request, value);
  if (text === word) return word;
  // Quotes show where a string begins and ends.
  const shown = request.type === "string" ? JSON.stringify(text) : text;
  return `${printable(shown)}  (${word})`;
}

/** Writes a value for people: a number with its unit, a string as it reads. What a string contains is not escaped. */
export function valueText({ type, spec: { unit, sources } }: CompiledRequest, value: bigint): string {
  const [first] = sources;
  const word = numberToHex(value, { size: 32 });
  switch (type) {
    case "uint": {
      const number = formatUnits(value, unit?.decimals ?? first?.decimals ?? 0);
      return unit === undefined ? number : `${number} ${unit.symbol}`;
    }
    case "bool":
      return value === 1n ? "true" : "false";
    case "string":
    case "bytes32":
      if (type === "bytes32" || first?.hash === true) return word;
      return value === 0n ? "" : hexToString(word, { size: 32 });
  }
}

/**
 * Escapes invisible characters except newlines and tabs, so that text from outside cannot control the terminal, and cuts
 * long text.
 */
export function printable(text: string): string {
  const short = text.length > 2_000 ? `${text.slice(0, 2_000)} ... (${text.length} characters)` : text;
  return short.replace(/[^\P{C}\n\t]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Shows how a value and each of its sources varied: what matters for the tolerance, and for the rule of a spec. */
export function summarizeReadings(key: ReadValue["key"], readings: readonly ReadValue[]): string {
  const names = [...new Set(readings.flatMap(({ value }) => value.sources.map(({ source }) => source)))];
  const series = [
    { name: "value", values: readings.map(({ value }) => (value.kind === "value" ? value.value : null)) },
    ...names.map((name) => ({
      name,
      values: readings.map(({ value }) => value.sources.find(({ source }) => source === name)?.quote?.value ?? null),
    })),
  ];
  const width = Math.max(...series.map(({ name }) => name.length));
  const lines = series.map(({ name, values }) => {
    const read = values.filter((value) => value !== null);
    const distinct = [...new Set(read)].toSorted((a, b) => (a < b ? -1 : 1));
    const shown =
      kindOf(key) === "median"
        ? rangeText(distinct, key)
        : distinct.map((value) => keyValueText(key, value)).join(", ");
    return `${name.padEnd(width)}  ${read.length} of ${readings.length} with a value, ${distinct.length} different: ${shown}`;
  });
  return lines.join("\n");
}

/** Writes the lowest and the highest number, and how far they are apart in basis points of the lowest. */
function rangeText(ascending: readonly bigint[], key: ReadValue["key"]): string {
  const [lowest, highest] = [ascending[0], ascending.at(-1)];
  if (lowest === undefined || highest === undefined) return "-";
  if (lowest === highest) return keyValueText(key, lowest);
  const apart = lowest === 0n ? "" : ` (${Number(((highest - lowest) * 1_000_000n) / lowest) / 100} basis points)`;
  return `${keyValueText(key, lowest)} to ${keyValueText(key, highest)}${apart}`;
}
