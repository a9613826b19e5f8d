import type { Candle, HistoryAnswer, StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";

const UPDATE_COLUMNS = ["timestamp", "status", "value", "block_number", "transaction_hash"] as const;
const CANDLE_COLUMNS = ["start", "open", "high", "low", "close", "updates"] as const;

/** Writes the updates or the candles of an answer as CSV (RFC 4180). No field needs quotes. */
export function toCsv({ updates, candles }: HistoryAnswer): string {
  return candles === undefined ? table<StoredUpdate>(UPDATE_COLUMNS, updates) : table<Candle>(CANDLE_COLUMNS, candles);
}

function table<Row>(columns: readonly (keyof Row & string)[], rows: readonly Row[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("");
}
