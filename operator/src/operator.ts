import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { namesOfAccounts } from "@dataset-oracle/service/keys/find-accounts";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import type { Logger } from "pino";
import { DatasetUnreadable } from "./dataset/contract.js";
import { type ChainClient, createChainClient } from "./rpc/client.js";
import { RpcPool } from "./rpc/pool.js";
import { describeError, RpcError } from "./rpc/rpc-error.js";
import {
  type CoreMetrics,
  type CorePlan,
  connectNetwork,
  createCoreMetrics,
  type ServedNetwork,
  startQueues,
} from "./served-network.js";
import { OPERATOR, type SenderAccounts } from "./transactions/accounts.js";

declare module "fastify" {
  interface FastifyInstance {
    operator: Operator;
  }
}

const NO_SENDER = `no sender: nothing is broadcast on this network (set ${namesOfAccounts(OPERATOR)})`;

/** The running operator, as routes and plugins see it. */
export class Operator {
  /** The clients of all networks, by chain id. */
  readonly clients = new Map<number, ChainClient>();
  /** The networks that are served. */
  readonly networks = new Map<number, ServedNetwork>();
  /** What keeps the others from being served, in words that anyone may read. */
  readonly missing = new Map<number, string>();
  readonly #metrics: CoreMetrics;
  readonly #uses: ((network: ServedNetwork) => void)[] = [];
  #isServing = false;

  private constructor(readonly context: Context) {
    this.#metrics = createCoreMetrics(context.registry);
  }

  /**
   * Connects the networks, each by itself. Where no RPC endpoint can be used, that is tried again at every poll, and
   * whatever is found then ends nothing: it is in the log and in `missing` until an attempt succeeds. What plugins do with
   * a network is given to `eachNetwork`, so that none needs to know whether it came early or late.
   *
   * @throws ConfigError when the first attempt shows that a network cannot be served as configured.
   */
  static async connect(plans: readonly CorePlan[], senders: SenderAccounts, context: Context): Promise<Operator> {
    const operator = new Operator(context);
    const attempts = await Promise.all(plans.map((plan) => operator.#attempt(plan, senders)));
    // They are listed in the order of the configuration.
    for (const { client, network, again } of attempts) {
      operator.clients.set(client.chain.id, client);
      if (network === null) void again();
      else operator.#add(network);
    }
    return operator;
  }

  /** Has each network used when it begins to be served, at the start or later. `use` must not throw. */
  eachNetwork(use: (network: ServedNetwork) => void): void {
    this.#uses.push(use);
  }

  /** Begins to serve. By then the plugins have called `eachNetwork`. */
  serve(): void {
    this.#isServing = true;
    for (const network of this.networks.values()) this.#serveNetwork(network);
  }

  /** Tries to connect a network. Where no endpoint can be used, `again` goes on trying. */
  async #attempt(plan: CorePlan, senders: SenderAccounts) {
    const { context } = this;
    const { chainId, rpcUrls, settings } = plan;
    const logger = context.logger.child({ network: chainId });
    const { accounts, warnings } = senders.get(chainId) ?? { accounts: [], warnings: [NO_SENDER] };
    for (const warning of warnings) logger.warn(warning);
    const uses = { ...context, logger, errors: this.#metrics.rpcErrors };
    const pool = await RpcPool.connect(chainId, rpcUrls, uses, settings);
    const client = createChainClient(chainId, pool);
    const connect = () => connectNetwork(plan, client, accounts, context, this.#metrics);
    const network = await connect().catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      this.#miss(chainId, error, logger);
      return null;
    });
    const again = async () => {
      while (!this.networks.has(chainId)) {
        await wait(settings.rpcPollMs, context.closing);
        if (context.closing.aborted) return;
        await connect().then(
          (connected) => this.#add(connected),
          // An endpoint of another chain is not used, so where there is no other, a call fails without saying why.
          (error: unknown) => this.#miss(chainId, (client.isReady() ? null : pool.foreign) ?? error, logger),
        );
      }
    };
    return { client, network, again };
  }

  #add(network: ServedNetwork): void {
    if (this.context.closing.aborted) return;
    this.missing.delete(network.chainId);
    this.networks.set(network.chainId, network);
    if (this.#isServing) this.#serveNetwork(network);
  }

  #miss(chainId: number, error: unknown, logger: Logger): void {
    const lack = describeMissing(error);
    if (this.missing.get(chainId) !== lack)
      logger.warn({ reason: describeError(error) }, "this network is not served; trying again at every poll");
    this.missing.set(chainId, lack);
  }

  #serveNetwork(network: ServedNetwork): void {
    for (const use of this.#uses) use(network);
    // Now the plugins have named the keys that recovered batches can contain.
    void startQueues(network);
  }
}

/** Describes what a network lacks to those who may not see what its nodes answer. */
function describeMissing(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof DatasetUnreadable) return error.reason;
  return error instanceof RpcError ? error.message : "It failed unexpectedly. The operator's log says why.";
}
