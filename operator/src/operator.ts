import type { Alert } from "./alerts/alert.js";
import type { NetworkPlan } from "./config.js";
import { connectNetwork, type Network } from "./network.js";
import type { Context } from "./process-context.js";
import { recoverJob } from "./recover-job.js";
import type { SenderAccounts } from "./sender-accounts.js";
import { SenderBalances } from "./sender-balances.js";
import { UpdateBuilder } from "./update/update-builder.js";
import { UpdateCoordinator } from "./update/update-coordinator.js";

/** The running operator, without its HTTP side. */
export interface Operator extends Context {
  readonly networks: ReadonlyMap<number, Network>;
  readonly builder: UpdateBuilder;
  readonly updates: UpdateCoordinator;
  readonly balances: SenderBalances;
  /** The most recent ones since the process started, the newest first. */
  readonly alerts: Alert[];
  /** Resolves when every transaction queue has looked for the pending transactions of an earlier process. */
  readonly recovered: Promise<unknown>;
}

/**
 * Connects the networks and starts their transaction queues, which first recover what an earlier process left pending.
 *
 * @throws ConfigError when a network cannot be served as configured.
 */
export async function startOperator(
  plans: readonly NetworkPlan[],
  senders: SenderAccounts,
  context: Context,
): Promise<Operator> {
  const builder = new UpdateBuilder(context);
  const updates = new UpdateCoordinator(context, builder);
  const networks = await Promise.all(
    plans.map((plan) => {
      const { chainId } = plan.deployment;
      const logger = context.logger.child({ network: chainId });
      const own = senders.get(chainId);
      for (const warning of own?.warnings ?? []) logger.warn(warning);
      if (own === undefined)
        logger.warn(
          "no private key: nothing is broadcast on this network (set OPERATOR_KEYSTORE or OPERATOR_PRIVATE_KEY_FILE)",
        );
      return connectNetwork(plan, own?.accounts ?? [], context);
    }),
  );
  const recoveries = networks.flatMap((network) => {
    const { chainId, datasets, queues } = network;
    const { isAlone, own } = network.nodes;
    const role = isAlone ? "by itself" : own === null ? "a volunteer" : `the node of ${own.provider}`;
    const connected = {
      network: chainId,
      datasets: [...datasets.keys()],
      senders: queues.map(({ address }) => address),
      role,
    };
    context.logger.info(connected, "connected");
    return queues.map((queue) => queue.start((call) => recoverJob(context, builder, network, call)));
  });
  const balances = new SenderBalances(networks, context.clock, context.logger);
  // Nobody waits for it: it logs which senders have to be funded.
  void balances.read();
  context.metrics.watch(networks, balances, context.clock);
  const byChainId = new Map(networks.map((network) => [network.chainId, network]));
  return {
    ...context,
    networks: byChainId,
    builder,
    updates,
    balances,
    alerts: [],
    recovered: Promise.all(recoveries),
  };
}
