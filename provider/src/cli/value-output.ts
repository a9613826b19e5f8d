import { formatSpotPrice } from "@dataset-oracle/protocol/client/format-spot-price";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { OUTCOMES } from "../combined-value.js";
import { quoteTimeOf } from "../source-notes.js";
import { priceToTable } from "./price-table.js";
import { styleOf } from "./text-style.js";
import { type WebOracleValue, webOracleValueToText } from "./web-oracle-value-text.js";

/** A key of any kind and its value. */
type ShownValue =
  | ({ readonly kind: "spot_price" } & Pick<WebOracleValue, "name" | "value" | "at">)
  | ({ readonly kind: "web_oracle" } & WebOracleValue);

/**
 * Returns a value and its sources as a JSON object, for programs. The value of a spec is a number in decimal, or 32 bytes
 * in hex.
 */
export function valueToJson(shown: ShownValue): object {
  const { name, value, at } = shown;
  const spec = shown.kind === "web_oracle" ? shown : null;
  const describe = (known: bigint | null) =>
    spec === null
      ? { value: known?.toString() ?? null, price: known === null ? null : formatSpotPrice(known) }
      : { value: known === null ? null : formatValue(spec.compiled.kind, known) };
  return {
    key: name,
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

/** Writes a value and its sources as text, for people. */
export function valueToText(shown: ShownValue): string {
  const style = styleOf(process.stdout, process.env);
  return shown.kind === "spot_price"
    ? priceToTable(shown.name, shown.value, shown.at, style)
    : webOracleValueToText(shown, style);
}
