import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { CopyButton } from "../components/copy";
import { GUIDE_URL } from "../components/frame";
import { shortHex } from "../format/names";

/** Lists the request specs that were published for a dataset, and the form of their keys. */
export function SpecsSection({ specs }: Pick<DatasetOverview, "specs">) {
  return (
    <section class="card" aria-labelledby="specs">
      <h2 id="specs">Request specs</h2>
      <p class="quiet">
        A key of a spec has an argument in place of each name. Anyone can publish a spec:{" "}
        <a href={`${GUIDE_URL}web-oracle/`}>the guide</a> says how. Each data provider decides for itself which hosts it
        asks, so a key may have no value.
      </p>
      {specs.length === 0 && <p class="empty">No spec for this dataset has been published recently.</p>}
      <ul class="list">
        {specs.map(({ spec_hash: hash, variables, format: { title, unit, sources } }) => (
          <li key={hash}>
            <b>{title}</b> {unit && <span class="unit">{unit}</span>}
            <span class="small quiet">from {sources.join(", ")}</span>
            <span class="hex">
              <code title={hash}>{["WEB", shortHex(hash.slice(2)), ...variables].join("/")}</code>
              <CopyButton text={["WEB", hash.slice(2), ...variables].join("/")} what={`the key of “${title}”`} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
