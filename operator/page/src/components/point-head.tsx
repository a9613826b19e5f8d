import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { showKey } from "../format/key";
import { networkName } from "../format/names";
import { grouped } from "../format/number";
import { showValue } from "../format/value";
import { Age } from "./age";
import { Fact } from "./dataset-facts";
import { Hex } from "./hex";
import { Price } from "./price";
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
  const { prefix, name, title } = showKey(text, point?.format?.title ?? null);
  const value = point && showValue(dataset.kind, point.value, point.format, point.key);
  return (
    <>
      <div class="title">
        <h1>
          {title ?? (
            <>
              <span class="quiet">{prefix}</span>
              {name}
            </>
          )}
        </h1>
        <p class="quiet">
          {title && name && <b>{name} · </b>}
          {networkName(network.network_id)}, network {network.network_id}
        </p>
      </div>
      <div class="now">
        <p class={`big ${(value?.exact.length ?? 0) > 24 ? "big-long" : ""}`}>
          {point?.status === "OK" ? value?.exact : "—"} {value?.unit && <span class="unit">{value.unit}</span>}
        </p>
        {point && (
          <p class="now-state">
            <Status point={point} />
            <Age point={point} />
          </p>
        )}
      </div>
      <dl class="facts">
        <Fact name="Price per query">
          <Price wei={dataset.query_price} />
        </Fact>
        <Fact name="Heartbeat">
          {point && (point.heartbeat_seconds === null ? "none: updated on request" : `${point.heartbeat_seconds} s`)}
        </Fact>
        {point?.format && point.format.sources.length > 0 && (
          <Fact name="Sources">{point.format.sources.join(", ")}</Fact>
        )}
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
  if (format.type !== "uint")
    return <>{{ bool: "1 or 0", bytes32: "32 bytes", string: "text in 32 bytes" }[format.type]}</>;
  return (
    <>
      {point.status === "OK" && `${grouped(BigInt(point.value).toString())}, `}scaled by 10<sup>{format.decimals}</sup>
    </>
  );
}
