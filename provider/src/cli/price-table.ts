import { styleText } from "node:util";
import type { ExplainedPrice, SourceUse } from "../spot-price.js";

const DECIMALS = 18;

/** A price scaled by 10^18 as decimal text, without zeros at its end. */
export function toDecimalText(price: bigint): string {
  const digits = price.toString().padStart(DECIMALS + 1, "0");
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, "");
}

/** A price and its sources, for programs. `at` is in whole seconds since 1970. */
export function toJson(key: string, price: ExplainedPrice, at: bigint): string {
  const answer = {
    key,
    outcome: price.kind === "price" ? "OK" : price.kind === "busy" ? "BUSY" : "NOT_AVAILABLE",
    value: price.kind === "price" ? price.price.toString() : null,
    price: price.kind === "price" ? toDecimalText(price.price) : null,
    at: Number(at),
    sources: price.sources.map(({ source, quote, dropped }) => ({
      name: source,
      value: quote === null ? null : quote.price.toString(),
      price: quote === null ? null : toDecimalText(quote.price),
      quote_time: quote?.quotedAt === null || quote === null ? null : Number(quote.quotedAt),
      used: dropped === null,
      reason: dropped === null ? null : dropped.reason,
      detail: dropped === null ? null : dropped.detail,
    })),
  };
  return JSON.stringify(answer, null, 2);
}

/** A price and its sources as a table, for people. */
export function toTable(key: string, price: ExplainedPrice, at: bigint, hasColor: boolean): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    hasColor ? styleText(format, text, { validateStream: false }) : text;
  const rows = price.sources.map((use) => ({
    name: use.source,
    price: use.quote === null ? "-" : toDecimalText(use.quote.price),
    age: ageOf(use, at),
    fate: use.dropped === null ? "used" : plain(`${use.dropped.reason}: ${use.dropped.detail}`),
    isUsed: use.dropped === null,
  }));
  const wholes = rows.map((row) => row.price.split(".")[0]?.length ?? 0);
  const whole = Math.max(0, ...wholes);
  const prices = rows.map((row, i) => " ".repeat(whole - (wholes[i] ?? 0)) + row.price);
  const width = (title: string, texts: readonly string[]) =>
    Math.max(title.length, ...texts.map((text) => text.length));
  const names = width(
    "source",
    rows.map(({ name }) => name),
  );
  const priced = width("price", prices);
  const aged = width(
    "age",
    rows.map(({ age }) => age),
  );
  const lines = rows.map((row, i) => {
    const text = `${row.name.padEnd(names)}  ${(prices[i] ?? "").padEnd(priced)}  ${row.age.padStart(aged)}  `;
    return row.isUsed ? text + style("green", row.fate) : style("dim", text) + style("yellow", row.fate);
  });
  const head = `${"source".padEnd(names)}  ${"price".padEnd(priced)}  ${"age".padStart(aged)}  fate`;
  return [style("bold", key), style("dim", head), ...lines, "", outcome(price, style)].join("\n");
}

function outcome(price: ExplainedPrice, style: (format: "bold" | "red", text: string) => string): string {
  const used = price.sources.filter(({ dropped }) => dropped === null).length;
  const of = `${used} of ${price.sources.length} sources`;
  switch (price.kind) {
    case "price":
      return `median ${style("bold", toDecimalText(price.price))}, of ${of}`;
    case "no_price":
      return style("red", `no price: only ${of} can be used`);
    case "busy":
      return style("red", `not known: sources are at their rate limit; try again in ${price.retryAfter} s`);
  }
}

function ageOf({ quote }: SourceUse, at: bigint): string {
  return quote?.quotedAt === null || quote === null ? "-" : `${at - quote.quotedAt} s`;
}

/** What a source wrote must not move the terminal's cursor. */
const plain = (text: string) => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 100);
