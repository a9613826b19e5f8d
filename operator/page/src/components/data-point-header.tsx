import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { keyName, splitKey } from "../format/key";
import { datasetName, networkName } from "../format/network-and-dataset-names";
import { displayValue } from "../format/value";
import { datasetPath } from "../route";
import { Age } from "./age-and-heartbeat";
import { CopyButton } from "./copy-button";
import { Hex } from "./hex";
import { KeyName } from "./key-name";
import { PageHeading } from "./page-heading";
import { CurrentStatus } from "./status";
import { UpdatePolicy } from "./update-policy";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  readonly text: string;
  /** Null until it has been read. */
  readonly point: ServedPoint | null;
}

/** Shows the name and the current value of a data point. */
export function DataPointHeader({ network, dataset, text, point }: Props) {
  const { prefix, name } = splitKey(text);
  const format = point?.format ?? null;
  const title = format?.title ?? null;
  const value = point && displayValue(dataset.kind, point.value, format, point.key);
  const parent = { name: datasetName(dataset.name), href: datasetPath(network.network_id, dataset.dataset) };
  return (
    <>
      <PageHeading
        name={keyName(text, title)}
        heading={title ?? <KeyName prefix={prefix} name={name} />}
        parent={parent}
      >
        {title && name && <b>{name} · </b>}
        <span class="quick">
          {networkName(network.network_id)}, network {network.network_id}
        </span>
        <span class="quick">
          Key <CopyButton text={text} what="this key" />
        </span>
        <span class="quick">
          Contract <Hex hex={dataset.dataset} what="this contract's address" at="address" />
        </span>
      </PageHeading>
      <div class="row head">
        <p class={value && value.exact.length > 24 ? "big long" : "big"}>
          {point?.status === "OK" ? value?.exact : "—"} {value?.unit && <span class="unit">{value.unit}</span>}
        </p>
        {point && <CurrentStatus point={point} />}
        {point && <Age point={point} />}
        {point && <UpdatePolicy point={point} />}
      </div>
    </>
  );
}
