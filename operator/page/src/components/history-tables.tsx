import type { Candle, StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatAligned } from "../format/number";
import { formatTime } from "../format/time";
import { alignedTexts } from "../format/value";
import { Hex } from "./hex";
import { Status } from "./status";
import { ScrollingTable } from "./table";

interface UpdateTableProps {
  readonly updates: readonly StoredUpdate[];
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** Lists the stored rounds, newest first, with all digits. */
export function UpdateTable({ updates, kind, point }: UpdateTableProps) {
  const values = updates.map(({ value }) => value);
  const texts = alignedTexts(kind, values, point.format, point.key);
  return (
    <ScrollingTable
      name="History as a table"
      columns={{ Round: "", Value: "number", Status: "", Block: "number", Transaction: "" }}
    >
      {updates.map((update, index) => (
        <tr key={update.timestamp}>
          <th scope="row">{formatTime(update.timestamp)}</th>
          <td class="number">{update.status === "OK" ? texts[index] : "—"}</td>
          <td>
            <Status status={update.status} />
          </td>
          <td class="number">{update.block_number}</td>
          <td>
            <Hex hex={update.transaction_hash} what={`the transaction of ${formatTime(update.timestamp)}`} at="tx" />
          </td>
        </tr>
      ))}
    </ScrollingTable>
  );
}

/** Lists the intervals, newest first, with all digits. */
export function CandleTable({ candles, point }: { candles: readonly Candle[]; point: ServedPoint }) {
  const columns = ["open", "high", "low", "close"] as const;
  const values = candles.flatMap((candle) => columns.map((column) => BigInt(candle[column])));
  const texts = formatAligned(values, point.format?.decimals ?? 0);
  const number = "number";
  return (
    <ScrollingTable
      name="History as a table"
      columns={{ From: "", Open: number, High: number, Low: number, Close: number, Rounds: number }}
    >
      {candles.map((candle, row) => (
        <tr key={candle.start}>
          <th scope="row">{formatTime(candle.start)}</th>
          {columns.map((column, index) => (
            <td key={column} class="number">
              {texts[row * columns.length + index]}
            </td>
          ))}
          <td class="number">{candle.updates}</td>
        </tr>
      ))}
    </ScrollingTable>
  );
}
