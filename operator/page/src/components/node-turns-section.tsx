import type { DatasetOverview, NetworkOverview, ServedNode } from "@dataset-oracle/protocol/http-schemas/overview";
import { Hex } from "./hex";
import { ScrollingTable } from "./table";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
}

/**
 * Shows the operators that take turns on the network, starting with the one whose turn it is. Nothing for an operator
 * on its own.
 */
export function NodeTurnsSection({ network, dataset: { turn } }: Props) {
  if (network.nodes.length === 0) return null;
  const place = ({ provider }: ServedNode) => (turn.includes(provider) ? turn.indexOf(provider) : turn.length);
  const nodes = network.nodes.toSorted((a, b) => place(a) - place(b));
  return (
    <section class="card" aria-labelledby="nodes">
      <h2 id="nodes">Nodes</h2>
      <p class="quiet">
        You can send a request to any of these nodes. A hash decides every few seconds which node updates the feeds, and
        every minute which one sends the requested updates of a key. If that node does not send, the next one does.
      </p>
      <ScrollingTable name="The nodes" columns={{ Node: "", "Sends from": "", "Feed turn": "number" }}>
        {nodes.map((node) => (
          <tr key={node.provider}>
            <th scope="row">
              {node.name && <b class="named">{node.name}</b>}
              <a href={node.url}>{new URL(node.url).host}</a> {node.own && <span class="small quiet">this one</span>}
            </th>
            <td>
              <Hex hex={node.submitter} what="the account from which it sends" at="address" />
            </td>
            <td class="number">{turnText(turn.indexOf(node.provider))}</td>
          </tr>
        ))}
      </ScrollingTable>
    </section>
  );
}

/** @param place Counted from 0; -1 for a node that has no turn. */
function turnText(place: number) {
  if (place === -1) return "—";
  return place === 0 ? <b>now</b> : `backup ${place}`;
}
