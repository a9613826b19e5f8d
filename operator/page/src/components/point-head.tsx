import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { keyName, showKey } from "../format/key";
import { datasetName, networkName } from "../format/names";
import { exact } from "../format/number";
import { showValue } from "../format/value";
import { datasetPath } from "../route";
import { Age } from "./age";
import { Hex } from "./copy";
import { Fact } from "./fact";
import { Title } from "./frame";
import { KeyName } from "./key-name";
import { QueryPrice } from "./query-price";
import { Status } from "./status";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  readonly text: string;
  /** Null until it has been read. */
  readonly point: ServedPoint | null;
}

/** Shows the current value and the properties of a data point. */
export function PointHead({ network, dataset, text, point }: Props) {
  const { prefix, name } = showKey(text);
  const format = point?.format ?? null;
  const title = format?.title ?? null;
  const value = point && showValue(dataset.kind, point.value, format, point.key);
  const parent = { name: datasetName(dataset.name), href: datasetPath(network.network_id, dataset.dataset) };
  return (
    <>
      <Title name={keyName(text, title)} heading={title ?? <KeyName prefix={prefix} name={name} />} parent={parent}>
        {title && name && <b>{name} · </b>}
        {networkName(network.network_id)}, network {network.network_id}
      </Title>
      <div class="row">
        <p class={value && value.exact.length > 24 ? "big long" : "big"}>
          {point?.status === "OK" ? value?.exact : "—"} {value?.unit && <span class="unit">{value.unit}</span>}
        </p>
        {point && <Status point={point} />}
        {point && <Age point={point} />}
      </div>
      <dl class="facts">
        <Fact name="Price per query">
          <QueryPrice wei={dataset.query_price} />
        </Fact>
        <Fact name="Heartbeat">
          {point && (point.heartbeat_seconds === null ? "none: updated on request" : `${point.heartbeat_seconds} s`)}
        </Fact>
        {format && format.sources.length > 0 && <Fact name="Sources">{format.sources.join(", ")}</Fact>}
        <Fact name="On chain" wide>
          <OnChain point={point} />
        </Fact>
        <Fact name="Key" wide>
          <Hex hex={text} what="the key" whole />
        </Fact>
        {point && (
          <Fact name="Key in hex" wide>
            <Hex hex={point.key_hex} what="the key in hex" whole />
          </Fact>
        )}
        <Fact name="Contract" wide>
          <Hex hex={dataset.dataset} what="the contract address" whole />
        </Fact>
      </dl>
    </>
  );
}

/** Shows the form of the value that a contract receives. */
function OnChain({ point }: { point: ServedPoint | null }) {
  const format = point?.format;
  if (!format) return <>unknown format</>;
  const words = { uint: "", bool: "1 or 0", bytes32: "32 bytes", string: "text in 32 bytes" }[format.type];
  if (words) return <>{words}</>;
  return (
    <>
      {point.status === "OK" && `${exact(BigInt(point.value), 0)}, `}scaled by 10<sup>{format.decimals}</sup>
    </>
  );
}
