import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useId, useState } from "preact/hooks";
import { keyText, splitKey } from "../format/key";
import { formatRounded, shortDecimals } from "../format/number";
import { displayValue } from "../format/value";
import { datasetPath, pointPath, specBuilderPath } from "../route";
import { Age } from "./age-and-heartbeat";
import { KeyName } from "./key-name";
import { CurrentStatus } from "./status";
import { Table } from "./table";

/** Longer tables have a search field. */
const MANY = 8;
/** The number of rows before a search or "Show all". */
const AT_FIRST = 12;

/** Lists the data points of a dataset. */
export function DataPointsTable({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const [wanted, setWanted] = useState("");
  const [isWhole, setWhole] = useState(false);
  const id = useId();
  if (dataset.points === null) return <p class="empty">The values cannot be read now.</p>;
  if (dataset.points.length === 0) {
    return (
      <p class="empty">
        No keys are listed yet.{" "}
        {dataset.key_form === "WEB_ORACLE" && <WebAdvice networkId={networkId} dataset={dataset} />}
      </p>
    );
  }
  const found = dataset.points.filter((point) => matches(point, wanted));
  const shown = isWhole || wanted ? found : found.slice(0, AT_FIRST);
  const decimals = decimalsOf(dataset.kind, shown);
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
      <Table class="points" columns={{ Key: "", Value: "number value", Status: "", Age: "" }}>
        {shown.map((point) => (
          <Row
            key={point.key_hex}
            networkId={networkId}
            dataset={dataset}
            point={point}
            decimals={decimals.get(point.format?.title)}
          />
        ))}
      </Table>
      {found.length === 0 && <p class="empty">No key contains “{wanted}”.</p>}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {found.length}
        </button>
      )}
      {dataset.left_out > 0 && (
        <p class="quiet">
          {dataset.left_out} more {dataset.left_out === 1 ? "key is" : "keys are"} not listed here.
        </p>
      )}
    </>
  );
}

/** Explains how to get the first value of a Web Oracle dataset. */
function WebAdvice({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const count = dataset.specs.length;
  if (count === 0) {
    return (
      <>
        <a href={specBuilderPath(networkId)}>Build a request spec</a>, publish it, and request its first value.
      </>
    );
  }
  return (
    <>
      <a href={datasetPath(networkId, dataset.dataset)}>
        {count === 1 ? "One request spec is published" : `${count} request specs are published`}
      </a>
      : request the first value.
    </>
  );
}

interface RowProps {
  readonly networkId: number;
  readonly dataset: DatasetOverview;
  readonly point: ServedPoint;
  /**
   * The number of decimals to show, the same for all values of one spec in the column; undefined for a value that is
   * not a number.
   */
  readonly decimals: number | undefined;
}

function Row({ networkId, dataset, point, decimals }: RowProps) {
  const text = keyText(point);
  const { prefix, name } = splitKey(text);
  const title = point.format?.title;
  const value = displayValue(dataset.kind, point.value, point.format, point.key);
  return (
    <tr class={title ? "titled" : ""}>
      <th scope="row">
        <a href={pointPath(networkId, dataset.dataset, text)}>
          <span class="name">{title ?? <KeyName prefix={prefix} name={name} />}</span>
          {title && (
            <span class="detail small quiet">
              {name && <b>{name}</b>} <code>{prefix}</code>
            </span>
          )}
        </a>
      </th>
      <td class="number value" title={value.exact}>
        {point.status === "OK" ? <Value point={point} decimals={decimals} short={value.short} /> : "—"}{" "}
        {value.unit && <span class="unit">{value.unit}</span>}
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

/** Shows a number with as many decimals as its column has. Those beyond its own short form are toned down. */
function Value({ point, decimals, short }: Pick<RowProps, "point" | "decimals"> & { short: string }) {
  if (decimals === undefined) return <>{short}</>;
  const [value, scale] = [BigInt(point.value), point.format?.decimals ?? 0];
  const text = formatRounded(value, scale, decimals);
  const further = decimals - Math.min(decimals, shortDecimals(value, scale));
  return (
    <>
      {text.slice(0, text.length - further)}
      {further > 0 && <span class="further">{text.slice(-further)}</span>}
    </>
  );
}

/** No number has more decimals in a table. */
const MOST_DECIMALS = 10;

/**
 * Returns how many decimals the numbers of a column have, by the title of their request spec, so that values of the
 * same spec align.
 */
function decimalsOf(
  kind: DatasetOverview["kind"],
  points: readonly ServedPoint[],
): Map<string | null | undefined, number> {
  const decimals = new Map<string | null | undefined, number>();
  for (const { format, status, value } of points) {
    if (kind !== "median" || status !== "OK") continue;
    const wanted = Math.min(MOST_DECIMALS, shortDecimals(BigInt(value), format?.decimals ?? 0));
    decimals.set(format?.title, Math.max(wanted, decimals.get(format?.title) ?? 0));
  }
  return decimals;
}

function matches(point: ServedPoint, wanted: string): boolean {
  const text = `${keyText(point)} ${point.key_hex} ${point.format?.title ?? ""}`;
  return text.toLowerCase().includes(wanted.trim().toLowerCase());
}
