import type { BroadcastUpdate } from "@dataset-oracle/protocol";
import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { Fact } from "../components/dataset-facts";
import { Hex } from "../components/hex";
import { Status } from "../components/status";
import { keyToText } from "../format/key";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { pointPath } from "../route";
import { ProblemNote } from "./problem-note";
import type { RequestEnd } from "./run-request";
import { UnsentTransaction } from "./unsent-transaction";

interface Props {
  readonly end: RequestEnd;
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  readonly onStored: (() => void) | undefined;
}

/** Shows the outcome of a request. */
export function Outcome({ end, network, dataset, onStored }: Props) {
  if (end.kind === "problem") return <ProblemNote problem={end.problem} retryAfter={end.retryAfter} />;
  return (
    <>
      <Value update={end.update} network={network} dataset={dataset} />
      {end.kind === "unsent" && <UnsentTransaction update={end.update} network={network} onStored={onStored} />}
    </>
  );
}

type Shown = Pick<BroadcastUpdate, "key" | "status" | "value" | "output" | "updatedAt" | "reports"> &
  Partial<Pick<BroadcastUpdate, "transactionHash" | "fresh">>;

function Value({ update, network, dataset }: { update: Shown; network: NetworkOverview; dataset: DatasetOverview }) {
  const { key, status, value, output, updatedAt, reports, transactionHash, fresh } = update;
  const timestamp = Number(updatedAt);
  const format = dataset.points?.find((point) => point.key_hex === key)?.format;
  const text = keyToText(key);
  const plain = dataset.kind === "median" ? value.toString() : output;
  const isSpot = dataset.key_form === "SPOT_PRICE";
  const known = format ?? (isSpot ? { title: null, type: "uint" as const, decimals: 18, sources: [] } : null);
  const shown = showValue(dataset.kind, plain, known, text);
  return (
    <div class="result">
      <p class="result-value">
        {status === "OK" ? shown.exact : "—"} {shown.unit && <span class="unit">{shown.unit}</span>}{" "}
        <Status point={{ status, timestamp }} />
      </p>
      <dl class="facts">
        <Fact name="Round">{moment(timestamp)}</Fact>
        <Fact name="Reports">{reports.length > 0 ? reports.length : "in another transaction"}</Fact>
        {transactionHash !== undefined && (
          <Fact name="Transaction">
            {transactionHash === null ? (
              "sent by another relayer"
            ) : (
              <Hex hex={transactionHash} what="the transaction hash" />
            )}
          </Fact>
        )}
        <Fact name="Data point">
          <a href={pointPath(network.network_id, dataset.dataset, text)}>Value, signers, history</a>
        </Fact>
      </dl>
      {fresh && <p class="quiet">The stored value is so recent that no transaction was needed.</p>}
    </div>
  );
}
