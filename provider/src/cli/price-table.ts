import { formatSpotPrice } from "@dataset-oracle/protocol/client/format-spot-price";
import { reasonOf } from "../source-notes.js";
import type { SourceUse, ValueWithSources } from "../value-with-sources.js";
import { resultToText } from "./result-to-text.js";
import type { Style } from "./text-style.js";

/** Writes a price and its sources as a table, for people. */
export function priceToTable(key: string, price: ValueWithSources, at: bigint, style: Style): string {
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
