import type { DatasetOverview } from "@dataset-oracle/protocol/wire-data";
import { quorumOf } from "../format/quorum";
import { Hex } from "./hex";
import { Price } from "./price";

/** Summarizes a dataset in one line. */
export function DatasetLine({ dataset }: { dataset: DatasetOverview }) {
  const { providers, query_price: price } = dataset;
  return (
    <ul class="line">
      <li>
        <Hex hex={dataset.dataset} what={`the address of ${dataset.name}`} />
      </li>
      <li>
        <Price wei={price} /> <span class="quiet">a query</span>
      </li>
      <li>
        {quorumOf(providers.length)} of {providers.length} <span class="quiet">providers sign</span>
      </li>
      <li>{dataset.kind === "median" ? "median" : "majority"}</li>
    </ul>
  );
}
