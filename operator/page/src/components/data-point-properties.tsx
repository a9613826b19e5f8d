import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatExact } from "../format/number";
import { Fact } from "./fact";
import { Hex } from "./hex";
import { QueryPrice } from "./query-price";

interface Props {
  readonly dataset: DatasetOverview;
  readonly text: string;
  /** Null until it has been read. */
  readonly point: ServedPoint | null;
}

/** Lists the properties of a data point. */
export function DataPointProperties({ dataset, text, point }: Props) {
  const format = point?.format;
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">Properties</h2>
      <dl class="facts">
        <Fact name="Price per query">
          <QueryPrice wei={dataset.query_price} />
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
          <Hex hex={dataset.dataset} what="the contract address" at="address" whole />
        </Fact>
      </dl>
    </section>
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
      {point.status === "OK" && `${formatExact(BigInt(point.value), 0)}, `}scaled by 10<sup>{format.decimals}</sup>
    </>
  );
}
