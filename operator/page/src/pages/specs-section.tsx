import type { DatasetOverview, PublishedSpec } from "@dataset-oracle/protocol/http-schemas/overview";
import { CopyButton } from "../components/copy";
import { GUIDE_URL } from "../components/frame";
import { Table } from "../components/table";
import { shortHex } from "../format/names";

interface Props {
  readonly dataset: DatasetOverview;
  /** Called with the key of a spec, in which each argument is still the name of its variable. */
  readonly onChosen: (key: string) => void;
}

/** Lists the request specs that were published for a dataset, and their keys. */
export function SpecsSection({ dataset, onChosen }: Props) {
  return (
    <section class="card" aria-labelledby="specs">
      <h2 id="specs">Request specs</h2>
      <p class="quiet">
        Anyone can publish a spec: <a href={`${GUIDE_URL}web-oracle/`}>the guide</a> says how. Each data provider
        decides for itself which hosts it asks, so a key may have no value.
      </p>
      {dataset.specs.length === 0 && <p class="empty">No spec for this dataset has been published recently.</p>}
      {dataset.specs.length > 0 && (
        <Table columns={{ "Value and key": "", "In the form": "number" }}>
          {dataset.specs.map((spec) => (
            <Row key={spec.spec_hash} spec={spec} onChosen={onChosen} />
          ))}
        </Table>
      )}
    </section>
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
          <span class="hex">
            <code title={key}>{["WEB", shortHex(hash.slice(2)), ...variables].join("/")}</code>
            <CopyButton text={key} what={`a key of the spec “${format.title}”`} />
          </span>
          <span>{format.sources.join(", ")}</span>
        </span>
      </th>
      <td class="number">
        <button type="button" class="copy" onClick={() => onChosen(key)}>
          Fill in<span class="unseen"> a key: {format.title}</span>
        </button>
      </td>
    </tr>
  );
}
