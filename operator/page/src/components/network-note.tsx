import type { NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { networkName } from "../format/names";
import { useLive } from "../live/live";
import { TroubleNote } from "./trouble-note";

/** What keeps a network from being shown as it is now, if anything does. */
export function NetworkNote({ network }: { network: NetworkOverview }) {
  const { trouble } = useLive();
  if (trouble?.code === "too_many_requests") {
    return (
      <TroubleNote tone="warn" title="What is shown is not the newest." code={trouble.code}>
        You look more often than this operator answers. The page goes on by itself
        {trouble.retryAfter !== null && ` in ${trouble.retryAfter} s`}.
      </TroubleNote>
    );
  }
  if (trouble) {
    return (
      <TroubleNote tone="warn" title="What is shown is not the newest." code={trouble.code}>
        {trouble.title} The page tries again by itself.
      </TroubleNote>
    );
  }
  if (network.readable) return null;
  return (
    <TroubleNote tone="warn" title={`${networkName(network.network_id)} cannot be read now.`} code="rpc_failed">
      The operator's connection to the chain is in trouble. What is stored there is safe, and contracts can read it. The
      page tries again by itself.
    </TroubleNote>
  );
}
