import type { DatasetOverview } from "@dataset-oracle/protocol/wire-data";
import type { ComponentChildren } from "preact";
import { quorumOf } from "../format/quorum";
import { duration } from "../format/time";
import { Hex } from "./hex";
import { Price } from "./price";

/** What is so of a dataset, whatever its values are. */
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
      <Fact name="A value is">
        {kind === "median" ? `the median, within ${tolerance / 100} %` : "what more than half of them signed"}
      </Fact>
      <Fact name="Oldest round">{duration(dataset.max_round_age)} when it is stored</Fact>
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
