import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import type { PastUpdate } from "../live/use-history";
import { Hex } from "./hex";
import { Status } from "./status";

interface Props {
  readonly updates: readonly PastUpdate[];
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
  readonly isOpen: boolean;
}

/** Lists the stored rounds, newest first, with all digits. */
export function HistoryTable({ updates, kind, point, isOpen }: Props) {
  return (
    <details open={isOpen}>
      <summary>Show as a table ({updates.length} rounds)</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard */}
      <section class="scroll" tabIndex={0} aria-label="History as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">Round</th>
              <th scope="col" class="number">
                Value
              </th>
              <th scope="col">Status</th>
              <th scope="col" class="number">
                Block
              </th>
              <th scope="col">Transaction</th>
            </tr>
          </thead>
          <tbody>
            {updates.map((update) => (
              <tr key={update.timestamp}>
                <th scope="row">{moment(update.timestamp)}</th>
                <td class="number">
                  {update.status === "OK" ? showValue(kind, update.value, point.format, point.key).exact : "—"}
                </td>
                <td>
                  <Status point={update} />
                </td>
                <td class="number">{update.block_number}</td>
                <td>
                  <Hex hex={update.transaction_hash} what={`the transaction of ${moment(update.timestamp)}`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
