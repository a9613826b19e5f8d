import type { BroadcastUpdate, UnsentUpdate } from "@dataset-oracle/protocol";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { Fact } from "../components/fact";
import { Hex } from "../components/hex";
import { Status } from "../components/status";
import { formatTime } from "../format/time";
import { displayValue } from "../format/value";
import type { NetworkAndDataset } from "../live/overview-state";
import { pointPath } from "../route";
import { RequestProblem } from "./request-problem";
import type { RequestEnd } from "./run-request";
import { SendTransaction } from "./send-transaction";

interface Props extends NetworkAndDataset {
  readonly end: RequestEnd;
  readonly format: ValueFormat | undefined;
  readonly onStored: (() => void) | undefined;
}

/** Shows the outcome of a request. */
export function RequestResult({ end, network, dataset, format, onStored }: Props) {
  if (end.kind === "problem") return <RequestProblem {...end} />;
  return (
    <>
      <Value update={end.update} network={network} dataset={dataset} known={format} />
      {end.kind === "unsent" && <SendTransaction update={end.update} onStored={onStored} />}
    </>
  );
}

const SPOT_PRICE: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };

interface ValueProps extends NetworkAndDataset {
  readonly update: BroadcastUpdate | UnsentUpdate;
  readonly known: ValueFormat | undefined;
}

function Value({ update, network, dataset, known }: ValueProps) {
  const { key, status, value, output, updatedAt, reports } = update;
  const timestamp = Number(updatedAt);
  const text = keyToAscii(key) ?? key;
  const listed =
    known ??
    dataset.points?.find(({ key_hex }) => key_hex === key)?.format ??
    // The first value of a key is not listed yet.
    dataset.specs.find(({ spec_hash: hash }) => text.startsWith(`WEB/${hash.slice(2)}`))?.format;
  const format = listed ?? (dataset.key_form === "SPOT_PRICE" ? SPOT_PRICE : null);
  const shown = displayValue(dataset.kind, dataset.kind === "median" ? value.toString() : output, format, text);
  return (
    <div class="result">
      <p class="value">
        {status === "OK" ? shown.exact : "—"} {shown.unit && <span class="unit">{shown.unit}</span>}{" "}
        <Status status={status} />
      </p>
      <dl class="facts">
        <Fact name="Round">{formatTime(timestamp)}</Fact>
        <Fact name="Reports">{reports.length > 0 ? reports.length : "in another transaction"}</Fact>
        {"transactionHash" in update && (
          <Fact name="Transaction">
            {update.transactionHash === null ? (
              "sent by another relayer"
            ) : (
              <Hex hex={update.transactionHash} what="the transaction hash" />
            )}
          </Fact>
        )}
        <Fact name="Data point">
          <a href={pointPath(network.network_id, dataset.dataset, text)}>Value, signers, history</a>
        </Fact>
      </dl>
      {"fresh" in update && update.fresh && (
        <p class="quiet">The stored value is so recent that no transaction was needed.</p>
      )}
    </div>
  );
}
