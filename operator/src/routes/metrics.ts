import { scrapedMetrics } from "@dataset-oracle/service/http-server/metrics";
import { formatEther } from "viem";
import type { Operator } from "../operator.js";

/** Adds the metrics that are read from the networks at every scrape. */
export function addNetworkMetrics({ context, networks, clients }: Operator): void {
  const add = scrapedMetrics(context.registry);
  const queues = () =>
    [...networks.values()].flatMap(({ chainId: network, senders }) =>
      senders.queues.map((queue) => ({ queue, labels: { network, sender: queue.address } })),
    );
  add("operator_queue_transactions", ["network", "sender", "state"], "A sender's updates: waiting, sent.", () =>
    queues().flatMap(({ queue: { depth }, labels }) =>
      Object.entries(depth).map(([state, count]) => [{ ...labels, state }, count]),
    ),
  );
  add("operator_queue_events_total", ["network", "sender", "event"], "What became of a sender's transactions.", () =>
    queues().flatMap(({ queue: { counts }, labels }) =>
      Object.entries(counts).map(([event, count]) => [{ ...labels, event }, count]),
    ),
  );
  add("operator_sender_balance_ether", ["network", "sender"], "Absent while it cannot be read.", async () => {
    const balances = [...networks.values()].map(async ({ chainId: network, balances }) =>
      (await balances.read()).map(({ sender, wei }) => [{ network, sender }, wei] as const),
    );
    const all = (await Promise.all(balances)).flat();
    return all.flatMap(([labels, wei]) => (wei === null ? [] : [[labels, Number(formatEther(wei))]]));
  });
  add("operator_gas_budget_used_ratio", ["network", "budget"], "Part used in the last hour, from 0 to 1.", () =>
    [...networks.values()].flatMap(({ chainId: network, senders }) =>
      senders.gasUsed.map(([budget, ratio]) => [{ network, budget }, ratio]),
    ),
  );
  add("operator_network_ready", ["network"], "1 if it is served and an RPC endpoint can be used, else 0.", () =>
    [...clients].map(([network, client]) => [{ network }, networks.has(network) && client.isReady() ? 1 : 0]),
  );
  add("operator_rpc_endpoint_head_block", ["network", "endpoint"], "Newest block; 0 while it is not ready.", () =>
    [...clients].flatMap(([network, client]) =>
      client.endpoints().map(({ endpoint, block }) => [{ network, endpoint }, block]),
    ),
  );
  const ofMembers = ["network", "dataset", "provider", "host", "reason"];
  add("operator_member_working", ofMembers, "1 if its last answer could be used, else 0, and why not.", () =>
    [...networks.values()].flatMap(({ chainId: network, datasets, providers: { failures, urls } }) =>
      [...datasets].flatMap(([dataset, served]) =>
        served.dataset.committee.current.members.map((provider) => {
          const reason = failures.reasonOf(provider);
          const labels = { network, dataset, provider, host: urls.hostOf(provider), reason: reason ?? "" };
          return [labels, reason === null ? 1 : 0] as const;
        }),
      ),
    ),
  );
  const ofProviders = ["network", "provider", "host"];
  add("operator_provider_certificate_days", ofProviders, "How long a provider's certificate is valid.", () =>
    [...networks.values()].flatMap(({ chainId: network, certificates, providers: { urls } }) =>
      [...certificates.ends].map(([provider, end]) => {
        const labels = { network, provider, host: urls.hostOf(provider) };
        return [labels, (end - context.clock.now()) / 86_400_000] as const;
      }),
    ),
  );
}
