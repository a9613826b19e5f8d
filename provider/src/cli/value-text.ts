import { styleText } from "node:util";
import { formatSpotPrice } from "@dataset-oracle/protocol/client/format-spot-price";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { formatUnits, hexToString, numberToHex } from "viem";
import {
  type CombinedValue,
  OUTCOMES,
  quoteTimeOf,
  reasonOf,
  type SourceUse,
  type ValueWithSources,
} from "../combined-value.js";
import type { ServedKey } from "../served-keys.js";
import type { SourceFailure } from "../source/source-failure.js";
import type { CompiledRequest } from "../web-oracle/compile-spec.js";
import type { WebOracleKey } from "../web-oracle/web-oracle-key-finder.js";

/** Emphasizes text, or leaves it alone where no terminal would show the emphasis. */
export type Style = Readonly<Record<"bold" | "good" | "bad" | "doubtful" | "dim", (text: string) => string>>;

export function styleOf(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  const isShown = stream.isTTY === true && !env.NO_COLOR;
  // styleText need not look for a terminal again.
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isShown ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: style("bold"),
    good: style("green"),
    bad: style("red"),
    doubtful: style("yellow"),
    dim: style("dim"),
  };
}

/** A key and its value. */
export interface ReadValue {
  readonly key: Pick<ServedKey, "kind" | "name"> &
    (Pick<WebOracleKey, "kind" | "compiled" | "request"> | { readonly kind: "spot_price" });
  readonly value: ValueWithSources;
  /** When the reading started, in whole seconds since 1970. */
  readonly at: bigint;
}

/**
 * Returns a value and its sources as a JSON object, for programs. The value of a spec is a number in decimal, or 32 bytes
 * in hex.
 */
export function valueToJson({ key, value, at }: ReadValue): object {
  const spec = key.kind === "web_oracle" ? key : null;
  const describe = (known: bigint | null) =>
    spec === null
      ? { value: known?.toString() ?? null, price: known === null ? null : formatSpotPrice(known) }
      : { value: known === null ? null : formatValue(spec.compiled.kind, known) };
  return {
    key: key.name,
    ...(spec && { title: spec.compiled.spec.title }),
    outcome: OUTCOMES[value.kind],
    ...describe(value.kind === "value" ? value.value : null),
    at: Number(at),
    sources: value.sources.map(({ source, quote, dropped }, index) => ({
      name: source,
      ...(spec && { url: spec.request.sources[index]?.request.url }),
      ...describe(quote?.value ?? null),
      ...(spec === null && { quote_time: quoteTimeOf(quote) }),
      used: dropped === null,
      reason: dropped?.code ?? null,
      detail: dropped?.detail ?? null,
    })),
  };
}

/**
 * Writes a value and its sources as text, for people.
 *
 * @param answerOf Returns what a source of a request spec answered, line by line; nothing by default.
 */
export function valueToText(
  { key, value, at }: ReadValue,
  style: Style,
  answerOf?: (index: number) => readonly string[],
): string {
  return key.kind === "spot_price"
    ? priceToTable(key.name, value, at, style)
    : webValueToText(key, value, style, answerOf);
}

/** Writes a key's value as people read it. */
export const keyValueText = (key: ReadValue["key"], value: bigint): string =>
  key.kind === "spot_price" ? formatSpotPrice(value) : describeWebOracleValue(key.compiled, value);

/** Writes a price and its sources as a table, for people. */
function priceToTable(key: string, price: ValueWithSources, at: bigint, style: Style): string {
  const wholes = price.sources.map(({ quote }) => priceOf(quote).split(".")[0]?.length ?? 0);
  const whole = Math.max(0, ...wholes);
  // Prices are aligned at their decimal points.
  const rows = price.sources.map((use, i) => [
    use.source,
    " ".repeat(whole - (wholes[i] ?? 0)) + priceOf(use.quote),
    ageOf(use, at),
  ]);
  const head = ["source", "price", "age"];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const align = ([source = "", price = "", age = ""]: string[]) =>
    `${source.padEnd(widths[0] ?? 0)}  ${price.padEnd(widths[1] ?? 0)}  ${age.padStart(widths[2] ?? 0)}  `;
  const lines = price.sources.map(({ dropped }, i) => {
    const text = align(rows[i] ?? []);
    if (dropped === null) return text + style.good("used");
    return style.dim(text) + style.doubtful(reasonOf(dropped));
  });
  const used = price.sources.filter(({ dropped }) => dropped === null).length;
  const median = (value: bigint) =>
    `median ${style.bold(formatSpotPrice(value))} (${used} of ${price.sources.length} sources used)`;
  const result = resultToText(price, median, style.bad, "no price");
  return [style.bold(key), style.dim(`${align(head)}use`), ...lines, "", result].join("\n");
}

const priceOf = (quote: SourceUse["quote"]) => (quote === null ? "-" : formatSpotPrice(quote.value));

function ageOf({ quote }: SourceUse, at: bigint): string {
  return quote?.quotedAt === null || quote === null ? "-" : `${at - quote.quotedAt} s`;
}

function webValueToText(
  { name, compiled, request }: Pick<WebOracleKey, "name" | "compiled" | "request">,
  value: ValueWithSources,
  { bold, good, bad }: Style,
  answerOf: (index: number) => readonly string[] = () => [],
): string {
  const sections = value.sources.map(({ source, quote, dropped }, index) => {
    const { method = "", url = "", body } = request.sources[index]?.request ?? {};
    return [
      bold(`${source}: ${method} ${url}`),
      ...(body === undefined ? [] : [`  body:   ${printable(body)}`]),
      ...answerOf(index).map((line) => `  ${line}`),
      quote === null
        ? `  value:  ${bad(`none: ${printable(dropped === null ? "" : describeFailure(dropped))}`)}`
        : `  value:  ${good(describeWebOracleValue(compiled, quote.value))}`,
      "",
    ];
  });
  const result = resultToText(value, (known) => good(describeWebOracleValue(compiled, known)), bad, "none");
  return [bold(name), printable(compiled.spec.title), "", ...sections.flat(), `${bold("value:")} ${result}`].join("\n");
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
 * Writes a result for people.
 *
 * @param good Writes the value.
 * @param bad Emphasizes the explanation when there is no value.
 * @param none Precedes the reason: `no price`, for example.
 */
function resultToText(
  result: CombinedValue,
  good: (value: bigint) => string,
  bad: (text: string) => string,
  none: string,
): string {
  switch (result.kind) {
    case "value":
      return good(result.value);
    case "none":
      return bad(`${none}: ${result.reason}`);
    case "busy":
      return bad(`unknown: sources are at their rate limits; try again in ${result.retryAfter} s`);
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
      if (first?.hash !== true) return value === 0n ? "" : hexToString(word, { size: 32 });
      return word;
    case "bytes32":
      return word;
  }
}

/**
 * Escapes control and format characters except newlines and tabs, so that text from outside cannot control the
 * terminal, and cuts long text.
 */
export function printable(text: string): string {
  const short = text.length > 2_000 ? `${text.slice(0, 2_000)} ... (${text.length} characters)` : text;
  return short.replace(/\p{Cc}|\p{Cf}/gu, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
