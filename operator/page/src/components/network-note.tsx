import type { NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { networkName } from "../format/names";
import { useOverview } from "../live/overview-state";
import { Notice } from "./notice";

/** Explains why the shown state of a network may be outdated; empty if it is not. */
export function NetworkNote({ network }: { network: NetworkOverview }) {
  const { error } = useOverview();
  if (error) {
    const wait = error.retryAfter === null ? "" : ` in ${error.retryAfter} s`;
    return (
      <Notice tone="warn" title="The values shown may be outdated." code={error.code}>
        {error.code === "too_many_requests"
          ? `You have reached this operator's rate limit. The page continues automatically${wait}.`
          : `${error.title} The page retries automatically.`}
      </Notice>
    );
  }
  if (network.readable) return null;
  return (
    <Notice tone="warn" title={`${networkName(network.network_id)} cannot be read now.`} code="rpc_failed">
      The operator's connection to the chain is failing. The stored values are safe, and contracts can read them. The
      page retries automatically.
    </Notice>
  );
}
