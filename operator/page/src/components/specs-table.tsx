import type { DatasetOverview, PublishedSpec } from "@dataset-oracle/protocol/http-schemas/overview";
import { Hex } from "./hex";
import { Table } from "./table";

interface Props {
  readonly dataset: DatasetOverview;
  /** Called with the key of a spec, in which each argument is still the name of its variable. */
  readonly onChosen: (key: string) => void;
}

/** Lists the request specs that were published for a dataset. */
export function SpecsTable({ dataset, onChosen }: Props) {
  return (
    <>
      <p class="quiet">
        Anyone can publish a spec. Each data provider decides for itself which hosts it asks, so a key may have no
        value.
      </p>
      {dataset.specs.length === 0 && (
        <p class="empty">No spec for this dataset has been published recently. Build one and publish it.</p>
      )}
      {dataset.specs.length > 0 && (
        <Table columns={{ Value: "", Key: "number" }}>
          {dataset.specs.map((spec) => (
            <Row key={spec.spec_hash} spec={spec} onChosen={onChosen} />
          ))}
        </Table>
      )}
    </>
  );
}

function Row({ spec, onChosen }: { spec: PublishedSpec } & Pick<Props, "onChosen">) {
  const { spec_hash: hash, variables, format } = spec;
  const key = ["WEB", hash.slice(2), ...variables].join("/");
  return (
    <tr>
      <th scope="row">
        {format.title} {format.unit && <span class="unit">{format.unit}</span>}
        <span class="row small quiet">
          <span>{format.sources.join(", ")}</span>
          <span>{variables.length === 0 ? "no arguments" : `arguments: ${variables.join(", ")}`}</span>
          <Hex hex={hash} what={`the hash of the spec “${format.title}”`} />
        </span>
      </th>
      <td class="number">
        <button type="button" class="copy" onClick={() => onChosen(key)}>
          Fill in a key<span class="unseen">: {format.title}</span>
        </button>
      </td>
    </tr>
  );
}
