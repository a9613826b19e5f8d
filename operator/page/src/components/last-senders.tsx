import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatTime } from "../format/time";
import { Hex } from "./hex";
import { ScrollingTable } from "./table";

interface Props {
  readonly network: NetworkOverview;
  readonly data: DataPointAnswer;
}

/** Shows which node sent each of the last rounds. Nothing for an operator on its own, or before the first round. */
export function LastSenders({ network, data }: Props) {
  if (network.nodes.length === 0 || data.last_rounds.length === 0) return null;
  const nodes = new Map(network.nodes.map((node) => [node.submitter, node]));
  return (
    <section class="card" aria-labelledby="senders">
      <h2 id="senders">Who sent the last rounds</h2>
      <ScrollingTable name="The senders of the last rounds" columns={{ Round: "", "Sent by": "", Transaction: "" }}>
        {data.last_rounds.map(({ timestamp, transaction_hash: hash, sender }) => {
          const node = nodes.get(sender ?? "");
          return (
            <tr key={hash}>
              <th scope="row">{formatTime(timestamp)}</th>
              <td>
                {node && <b class="named">{node.name ?? new URL(node.url).host}</b>}
                {sender ? <Hex hex={sender} what="the sender's address" at="address" /> : "unknown"}
              </td>
              <td>
                <Hex hex={hash} what="the transaction hash" at="tx" />
              </td>
            </tr>
          );
        })}
      </ScrollingTable>
    </section>
  );
}
