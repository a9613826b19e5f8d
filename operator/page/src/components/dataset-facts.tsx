import type { DatasetOverview } from "@dataset-oracle/protocol/wire-data";
import type { ComponentChildren } from "preact";
import { quorumOf } from "../format/quorum";
import { duration } from "../format/time";
import { Hex } from "./hex";
import { Price } from "./price";

/** Shows a dataset's properties. */
export function DatasetFacts({ dataset }: { dataset: DatasetOverview }) {
  const { providers, tolerance_bps: tolerance, kind } = dataset;
  return (
    <dl class="facts">
      <Fact name="Contract" wide>
        <Hex hex={dataset.dataset} what="the contract address" whole />
      </Fact>
      <Fact name="Price per query">
        <Price wei={dataset.query_price} />
      </Fact>
      <Fact name="Providers">
        {providers.length}, {quorumOf(providers.length)} must sign
      </Fact>
      <Fact name="Stored value">
        {kind === "median" ? `the median, within ${tolerance / 100} %` : "the one that more than half signed"}
      </Fact>
      <Fact name="Maximum age when stored">{duration(dataset.max_round_age)}</Fact>
    </dl>
  );
}

export function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <div class={wide ? "fact fact-wide" : "fact"}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
