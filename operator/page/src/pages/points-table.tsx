import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId, useState } from "preact/hooks";
import { Age, CurrentStatus, KeyName, Shown } from "../components/data-point";
import { Table } from "../components/table";
import { keyText, shortHex, splitKey } from "../format/names";
import { displayValue } from "../format/values";
import { pointPath } from "../route";

/** Longer tables have a search field. */
const MANY = 8;

const COLUMNS = [
  { name: "Key" },
  { name: "Value", class: "number value" },
  { name: "Status" },
  { name: "Age", term: "age" },
] as const;

/** Lists the data points of a dataset. */
export function PointsTable({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const [wanted, setWanted] = useState("");
  const id = useId();
  if (dataset.points === null) return <p class="empty">The values cannot be read now.</p>;
  if (dataset.points.length === 0) return <p class="empty">This operator lists no key of this dataset.</p>;
  const found = dataset.points.filter((point) => matches(point, wanted));
  return (
    <>
      {dataset.points.length > MANY && (
        <>
          <label class="unseen" for={id}>
            Search the keys of {dataset.name}
          </label>
          <input
            id={id}
            type="search"
            placeholder={`Search ${dataset.points.length} keys`}
            autocomplete="off"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </>
      )}
      <Table class="points" columns={COLUMNS} isShortened={wanted === ""}>
        {found.map((point) => (
          <Row key={point.key_hex} networkId={networkId} dataset={dataset} point={point} />
        ))}
      </Table>
      {found.length === 0 && <p class="empty">No key contains “{wanted}”.</p>}
      {dataset.left_out > 0 && (
        <p class="quiet">
          {dataset.left_out} more {dataset.left_out === 1 ? "key is" : "keys are"} not listed here.
        </p>
      )}
    </>
  );
}

interface RowProps {
  readonly networkId: number;
  readonly dataset: DatasetOverview;
  readonly point: ServedPoint;
}

function Row({ networkId, dataset, point }: RowProps) {
  const text = keyText(point);
  const { prefix, name } = splitKey(text);
  const title = point.format?.title;
  const value = displayValue(dataset.kind, point.value, point.format, point.key);
  const isHash = /^0x[0-9a-f]{64}$/.test(value.text);
  const short = isHash ? { ...value, text: shortHex(value.text) } : value;
  return (
    <tr class={title ? "titled" : ""}>
      <th scope="row">
        <a href={pointPath(networkId, dataset.dataset, text)}>
          <span class="name">{title ?? <KeyName text={text} />}</span>
          {title && (
            <span class="detail small quiet">
              {name && <b>{name}</b>} <code>{prefix}</code>
            </span>
          )}
        </a>
      </th>
      <td class="number value" title={value.text}>
        <Shown value={point.status === "OK" ? short : null} />
      </td>
      <td>
        <CurrentStatus point={point} />
      </td>
      <td>
        <Age point={point} />
      </td>
    </tr>
  );
}

function matches(point: ServedPoint, wanted: string): boolean {
  const text = `${keyText(point)} ${point.key_hex} ${point.format?.title ?? ""}`;
  return text.toLowerCase().includes(wanted.trim().toLowerCase());
}
