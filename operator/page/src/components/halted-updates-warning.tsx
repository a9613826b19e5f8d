import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { datasetName, networkName } from "../format/network-and-dataset-names";
import { formatDuration } from "../format/time";
import { countAnsweringProviders } from "../live/answering-providers";
import { chainLiveness } from "../live/chain-liveness";
import { useOverview } from "../live/overview-state";
import { Notice } from "./notice";

interface Props {
  readonly network: NetworkOverview;
  /** Those that are shown below. */
  readonly datasets: readonly DatasetOverview[];
}

/** Explains the worst reason why values of a network are not updated now; empty if there is none. */
export function HaltedUpdatesWarning({ network, datasets }: Props) {
  const { error, now } = useOverview();
  // `ConnectionWarning` explains this.
  if (error) return null;
  const name = networkName(network.network_id);
  const state = chainLiveness(network, now);
  if (state === "unreadable") {
    return (
      <Notice tone="warn" title={`${name} cannot be read now.`} code="rpc_failed">
        The operator's connection to the chain is failing. The stored values are safe, and contracts can read them. The
        page retries automatically.
      </Notice>
    );
  }
  if (state === "stalled") {
    return (
      <Notice
        tone="warn"
        title={`${name} has had no new block for ${formatDuration(now - (network.head_timestamp ?? now))}.`}
      >
        No value can be updated until the next block. The ages shown keep increasing.
      </Notice>
    );
  }
  const halted = datasets.filter(
    (dataset) => countAnsweringProviders(dataset).answering < countAnsweringProviders(dataset).needed,
  );
  const [first] = halted;
  if (!first) return null;
  const { needed, answering } = countAnsweringProviders(first);
  return (
    <Notice tone="warn" title={`Updates of ${halted.map((one) => datasetName(one.name)).join(", ")} are halted.`}>
      Only {answering} of {first.providers.length} data providers answer this operator, and {needed} must sign.
      Contracts can still read the stored values, whose ages keep increasing.
    </Notice>
  );
}
