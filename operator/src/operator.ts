import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import { DatasetUnreadable } from "./dataset/contract.js";
import { type ChainClient, createChainClient } from "./rpc/client.js";
import { RpcPool } from "./rpc/pool.js";
import { describeError, RpcError } from "./rpc/rpc-error.js";
import { type CorePlan, connectNetwork, createCoreMetrics, type ServedNetwork, startQueues } from "./served-network.js";
import type { SenderAccounts } from "./transactions/accounts.js";

declare module "fastify" {
  interface FastifyInstance {
    operator: Operator;
  }
}

/** The running operator, as routes and plugins see it. */
export interface Operator {
  readonly context: Context;
  /** The clients of all networks, by chain id. */
  readonly clients: ReadonlyMap<number, ChainClient>;
  /** The networks that are served. */
  readonly networks: ReadonlyMap<number, ServedNetwork>;
  /** What keeps the others from being served, in words that anyone may read. */
  readonly missing: ReadonlyMap<number, string>;
  /** Has each network used when it begins to be served, at the start or later. `use` must not throw. */
  readonly eachNetwork: (use: (network: ServedNetwork) => void) => void;
  /** Begins to serve. By then the plugins have called `eachNetwork`. */
  readonly serve: () => void;
}

const NO_SENDER =
  "no sender: nothing is broadcast on this network (set OPERATOR_KEYSTORE, OPERATOR_PRIVATE_KEY_FILE or " +
  "OPERATOR_SIGNER_URL)";

/**
 * Connects the networks, each by itself. Where no RPC endpoint can be used, that is tried again at every poll, and
 * whatever is found then ends nothing: it is in the log and in `missing` until an attempt succeeds. What plugins do with
 * a network is given to `eachNetwork`, so that none needs to know whether it came early or late.
 *
 * @throws ConfigError when the first attempt shows that a network cannot be served as configured.
 */
export async function connectNetworks(
  plans: readonly CorePlan[],
  senders: SenderAccounts,
  context: Context,
): Promise<Operator> {
  const { closing } = context;
  const metrics = createCoreMetrics(context.registry);
  const clients = new Map<number, ChainClient>();
  const networks = new Map<number, ServedNetwork>();
  const missing = new Map<number, string>();
  const uses: ((network: ServedNetwork) => void)[] = [];
  let isServing = false;

  const begin = (network: ServedNetwork) => {
    for (const use of uses) use(network);
    // Now the plugins have named the keys that recovered batches can contain.
    void startQueues(network);
  };
  const add = (network: ServedNetwork) => {
    if (closing.aborted) return;
    missing.delete(network.chainId);
    networks.set(network.chainId, network);
    if (isServing) begin(network);
  };

  async function connect(plan: CorePlan): Promise<() => void> {
    const { chainId, rpcUrls, settings } = plan;
    const logger = context.logger.child({ network: chainId });
    const { accounts, warnings } = senders.get(chainId) ?? { accounts: [], warnings: [NO_SENDER] };
    for (const warning of warnings) logger.warn(warning);
    const parts = { ...context, logger, errors: metrics.rpcErrors };
    const pool = await RpcPool.connect(chainId, rpcUrls, settings, parts);
    const client = createChainClient(chainId, pool);
    const attempt = () => connectNetwork(plan, client, accounts, context, metrics);
    const miss = (error: unknown) => {
      const lack = describeMissing(error);
      if (missing.get(chainId) !== lack)
        logger.warn({ reason: describeError(error) }, "this network is not served; trying again at every poll");
      missing.set(chainId, lack);
    };
    const goOn = async () => {
      while (!networks.has(chainId)) {
        await wait(settings.rpcPollMs, closing);
        if (closing.aborted) return;
        // An endpoint of another chain is not used, so where there is no other, a call fails without saying why.
        await attempt().then(add, (error: unknown) => miss((client.isReady() ? null : pool.foreign) ?? error));
      }
    };
    const network = await attempt().catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      miss(error);
      return null;
    });
    return () => {
      clients.set(chainId, client);
      if (network === null) void goOn();
      else add(network);
    };
  }

  // They are listed in the order of the configuration.
  for (const list of await Promise.all(plans.map(connect))) list();
  return {
    ...{ context, clients, networks, missing },
    eachNetwork: (use) => void uses.push(use),
    serve: () => {
      isServing = true;
      for (const network of networks.values()) begin(network);
    },
  };
}

/** Describes what a network lacks to those who may not see what its nodes answer. */
function describeMissing(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof DatasetUnreadable) return error.reason;
  return error instanceof RpcError ? error.message : "It failed unexpectedly. The operator's log says why.";
}
