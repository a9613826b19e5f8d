import { priceToJson, priceToTable } from "./price-output.js";
import { styleOf } from "./text-style.js";
import { type WebOracleValue, webOracleValueToJson, webOracleValueToText } from "./web-oracle-value-output.js";

/** A key of any kind and its value. */
type ShownValue =
  | ({ readonly kind: "spot_price" } & Pick<WebOracleValue, "name" | "value" | "at">)
  | ({ readonly kind: "web_oracle" } & WebOracleValue);

/** Returns a value and its sources as a JSON object, for programs. */
export const showAsJson = (shown: ShownValue): object =>
  shown.kind === "spot_price" ? priceToJson(shown.name, shown.value, shown.at) : webOracleValueToJson(shown);

/** Writes a value and its sources as text, for people. */
export function showAsText(shown: ShownValue): string {
  const style = styleOf(process.stdout, process.env);
  return shown.kind === "spot_price"
    ? priceToTable(shown.name, shown.value, shown.at, style)
    : webOracleValueToText(shown, style);
}
