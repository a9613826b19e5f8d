import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { useId, useState } from "preact/hooks";
import { keyText } from "../format/key";
import { showValue } from "../format/value";
import { pointPath } from "../route";
import { Age } from "./age";
import { KeyLabel } from "./key-label";
import { Status } from "./status";

/** Longer tables have a search field. */
const MANY = 8;

interface Props {
  readonly networkId: number;
  readonly dataset: DatasetOverview;
  /** The number of rows before "Show all" is clicked. */
  readonly atFirst?: number;
}

/** Lists the data points of a dataset. */
export function PointsTable({ networkId, dataset, atFirst = Number.POSITIVE_INFINITY }: Props) {
  const [wanted, setWanted] = useState("");
  const [isWhole, setWhole] = useState(false);
  const id = useId();
  const points = dataset.points ?? [];
  const found = points.filter((point) => matches(point, wanted));
  const shown = isWhole || wanted ? found : found.slice(0, atFirst);
  if (points.length === 0) return <NoPoints dataset={dataset} />;
  return (
    <>
      {points.length > MANY && (
        <div class="search">
          <label class="unseen" for={id}>
            Search the keys of {dataset.name}
          </label>
          <input
            id={id}
            type="search"
            placeholder={`Search ${points.length} keys`}
            autocomplete="off"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </div>
      )}
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col" class="number value points-value">
              Value
            </th>
            <th scope="col" class="points-status">
              Status
            </th>
            <th scope="col" class="points-age">
              Age
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((point) => (
            <Row key={point.key_hex} networkId={networkId} dataset={dataset} point={point} />
          ))}
        </tbody>
      </table>
      {found.length === 0 && <p class="empty">No key contains “{wanted}”.</p>}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {found.length}
        </button>
      )}
      {dataset.left_out > 0 && <p class="quiet">{dataset.left_out} more keys are not listed here.</p>}
    </>
  );
}

function Row({ networkId, dataset, point }: { networkId: number; dataset: DatasetOverview; point: ServedPoint }) {
  const text = keyText(point);
  const title = point.format?.title ?? null;
  const value = showValue(dataset.kind, point.value, point.format, point.key);
  return (
    <tr>
      <th scope="row" class={title === null ? "" : "titled"}>
        <a href={pointPath(networkId, dataset.dataset, text)}>
          <KeyLabel text={text} title={title} />
        </a>
      </th>
      <td class="number value" title={value.exact}>
        {point.status === "OK" ? (
          <>
            {value.short} {value.unit && <span class="unit">{value.unit}</span>}
          </>
        ) : (
          <span class="quiet">—</span>
        )}
      </td>
      <td>
        <Status point={point} />
      </td>
      <td>
        <Age point={point} />
      </td>
    </tr>
  );
}

function NoPoints({ dataset }: { dataset: DatasetOverview }) {
  if (dataset.points === null) return <p class="empty">The values cannot be read now.</p>;
  return (
    <p class="empty">
      No key has been stored yet. {dataset.key_form === "WEB_ORACLE" && "Publish a request spec and request its key."}
    </p>
  );
}

function matches(point: ServedPoint, wanted: string): boolean {
  const words = wanted.trim().toLowerCase();
  return `${keyText(point)} ${point.key_hex} ${point.format?.title ?? ""}`.toLowerCase().includes(words);
}
