import { argumentProblem } from "@dataset-oracle/protocol/argument-problem";
import type { PublishedSpec, ServedPoint, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { useEffect } from "preact/hooks";
import { Hex } from "../components/copy";
import { Age, CurrentStatus, KeyName, Shown } from "../components/data-point";
import { Explain } from "../components/explain";
import { Fact, QueryPrice } from "../components/facts";
import { PageHeading } from "../components/frame";
import { HaltedUpdatesWarning, Notice } from "../components/notices";
import { datasetName, keyText, networkName, splitKey } from "../format/names";
import { formatDuration } from "../format/time";
import { displayValue } from "../format/values";
import { type NetworkAndDataset, useOverview } from "../live/overview";
import { usePolled } from "../live/use-polled";
import { getData } from "../operator-api";
import { RequestSection } from "../request/request-section";
import { datasetPath } from "../route";
import { SnippetSection } from "../snippets/snippet-section";
import { HistorySection } from "./history-section";
import { LastRound } from "./last-round";
import { parseSpecKey, SpecForm } from "./specs";

/** Between polls, the overview shows when a new round is stored. */
const EVERY_MS = 15_000;

interface DataPointPageProps extends NetworkAndDataset {
  /** The key in ASCII, or in hex after `0x`. */
  readonly text: string;
}

/** Shows a data point: its value, its signers and its history. */
export function DataPointPage({ network, dataset, text }: DataPointPageProps) {
  const id = { networkId: network.network_id, dataset: dataset.dataset, key: text };
  const { value: data, error, refresh } = usePolled(text, () => getData(id), EVERY_MS);
  const listed = dataset.points?.find((point) => keyText(point) === text || point.key_hex === text);
  const overview = useOverview();
  useEffect(() => {
    if (data && listed && listed.timestamp !== data.timestamp) refresh();
  }, [listed?.timestamp]);
  // Either answer can be the newer one.
  const point = data && listed && listed.timestamp > data.timestamp ? { ...data, ...listed } : data;
  const spec = data && parseSpecKey(data.key_hex);
  const isNamed = dataset.specs.some(({ spec_hash: hash }) => hash === spec?.specHash);
  const known = { network, dataset, text, point: point ?? listed ?? null, isNamed };
  const read = { network, dataset, text, format: known.point?.format ?? null };
  // Otherwise another notice on the page already explains why.
  const isReadable = network.readable && overview.error === null;
  const onStored = () => {
    refresh();
    overview.refresh();
  };
  return (
    <>
      <Heading {...known} />
      <HaltedUpdatesWarning network={network} datasets={[dataset]} />
      {isReadable && error && (
        <Notice tone={data ? "warn" : "bad"} title={error.title} code={error.code}>
          {error.detail}
        </Notice>
      )}
      {data?.format?.title && !isNamed && <UnreviewedSpec format={data.format} />}
      {data?.variables && spec && !isFit(data.variables, spec.args) ? (
        <section class="card" aria-labelledby="arguments">
          <h2 id="arguments">Arguments</h2>
          <p class="quiet">A key of this spec has an argument for each field.</p>
          <SpecForm {...id} hash={spec.specHash} name="Arguments" variables={data.variables} />
        </section>
      ) : (
        <>
          <RequestSection {...read} onStored={onStored} />
          <SnippetSection {...read} />
        </>
      )}
      {point && <HistorySection id={id} kind={dataset.kind} point={point} isReadable={isReadable} />}
      {data && <LastRound data={data} dataset={dataset} />}
      <Properties {...known} />
    </>
  );
}

/** Tells whether a key's arguments fit its request spec. */
const isFit = (variables: PublishedSpec["variables"], args: readonly string[]) =>
  args.length === variables.length && variables.every((one, index) => argumentProblem(one, args[index] ?? "") === null);

/** Says that anybody may have written what follows from a key's request spec. */
function UnreviewedSpec({ format: { title, sources } }: { format: ValueFormat }) {
  return (
    <Notice tone="warn" title="Unreviewed request spec">
      Its publisher, who can be anybody, calls it “{title}”. It reads {sources.join(", ")}. Neither this operator's
      configuration nor its deployment names it: read the spec before you trust its values.
    </Notice>
  );
}

interface PartProps extends DataPointPageProps {
  /** True if the operator names the key's request spec. */
  readonly isNamed: boolean;
  /** Null until it has been read. */
  readonly point: ServedPoint | null;
}

function Heading({ network, dataset, text, point, isNamed }: PartProps) {
  const { prefix, name } = splitKey(text);
  const format = point?.format ?? null;
  const title = isNamed ? (format?.title ?? null) : null;
  const value = point && displayValue(dataset.kind, point.value, format, point.key);
  const parent = { name: datasetName(dataset.name), href: datasetPath(network.network_id, dataset.dataset) };
  return (
    <>
      <PageHeading
        name={title === null ? name || prefix : [title, name].filter(Boolean).join(": ")}
        heading={title ?? <KeyName text={text} />}
        parent={parent}
      >
        {title && name && <b>{name} · </b>}
        {networkName(network.network_id)}, network {network.network_id}
      </PageHeading>
      <div class="row">
        <p class={value && value.text.length > 24 ? "big long" : "big"}>
          <Shown value={point?.status === "OK" ? value : null} />
        </p>
        {point && <CurrentStatus point={point} />}
        {point && point.timestamp > 0 && (
          <span>
            <Age point={point} /> {point.heartbeat_seconds !== null && <Explain term="age" />}
          </span>
        )}
      </div>
    </>
  );
}

/** Shows when this operator updates a data point: the deviation threshold, the heartbeat, and the next update. */
function UpdatePolicy({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  const { heartbeat_seconds: heartbeat, deviation_bps: deviation, timestamp } = point;
  if (heartbeat === null || deviation === null) {
    return <Fact name="Updates">on request only</Fact>;
  }
  const left = timestamp === 0 ? 0 : timestamp + heartbeat - now;
  return (
    <>
      <Fact name="Deviation threshold">{deviation / 100}%</Fact>
      <Fact name="Heartbeat">{formatDuration(heartbeat)}</Fact>
      <Fact name="Next update due">
        {left >= 0 ? `in ${formatDuration(left)}` : <span class="warn">{formatDuration(-left)} ago</span>}
      </Fact>
    </>
  );
}

function Properties({ dataset, text, point }: PartProps) {
  const format = point?.format;
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">Properties</h2>
      <dl class="facts">
        <Fact name="Price per query">
          <QueryPrice wei={dataset.query_price} />
        </Fact>
        {point && <UpdatePolicy point={point} />}
        {format && format.sources.length > 0 && (
          <Fact name="Sources" wide>
            {format.sources.join(", ")}
          </Fact>
        )}
        {format && (
          <Fact name="On chain">
            {format.type === "uint" ? (
              <>
                scaled by 10<sup>{format.decimals}</sup>
              </>
            ) : (
              format.type
            )}
          </Fact>
        )}
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
