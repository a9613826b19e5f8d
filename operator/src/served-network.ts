import type { DeployedContracts } from "@dataset-oracle/service/config/deployment";
import type { RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import type { Context } from "@dataset-oracle/service/process/context";
import { Counter, Histogram, type Registry } from "prom-client";
import { type Address, type LocalAccount, parseGwei } from "viem";
import { findContracts } from "./dataset/contract.js";
import { connectDataset, type Dataset, type PlannedDataset } from "./dataset/dataset.js";
import { Certificates } from "./reports/certificates.js";
import { ProviderFailures } from "./reports/failures.js";
import { ProviderUrls } from "./reports/provider-urls.js";
import { GuardedHttp, Providers } from "./reports/providers.js";
import { type ReportSettings, ReportSource } from "./reports/report-source.js";
import type { ChainClient } from "./rpc/client.js";
import type { PoolSettings } from "./rpc/pool.js";
import type { Role } from "./schedule/cadence.js";
import { SenderBalances } from "./transactions/balances.js";
import { TransactionQueue } from "./transactions/queue.js";
import { createGasBudgets, type GasBudgets, type GasSettings, Senders } from "./transactions/senders.js";
import type { ContractCall } from "./transactions/task.js";
import { Broadcasts } from "./update/broadcasts.js";
import { UpdateBuilder } from "./update/builder.js";
import { DryRun } from "./update/dry-run.js";
import { type UpdateSettings, Updates } from "./update/updates.js";

/** A dataset that is served: its view of the chain, and what updates it. */
export interface NetworkDataset {
  readonly dataset: Dataset;
  readonly source: ReportSource;
  readonly builder: UpdateBuilder;
  readonly broadcasts: Broadcasts;
  readonly updates: Updates;
}

/** An operator's place among those that keep the same keys fresh. */
export interface Standing {
  readonly role: Role;
  /** The members that run such an operator; null for the whole committee. */
  readonly members: readonly Address[] | null;
  /** How long one of a better rank is waited for. */
  readonly stageMs: number;
}

/** A network that is served. Routes and plugins find in it what they work with. */
export interface ServedNetwork {
  readonly chainId: number;
  readonly client: ChainClient;
  readonly contracts: DeployedContracts;
  readonly datasets: ReadonlyMap<Address, NetworkDataset>;
  readonly providers: Providers;
  readonly certificates: Certificates;
  readonly dryRun: DryRun;
  readonly senders: Senders;
  readonly balances: SenderBalances;
  /** This operator's place among those that keep the same keys fresh. */
  readonly standing: Standing;
}

export interface CoreSettings extends PoolSettings, ReportSettings, GasSettings, UpdateSettings {
  readonly allowLocalProviders: boolean;
  readonly lowBalanceGwei: number;
  readonly maxFeePerGasGwei: number;
  readonly maxPriorityFeePerGasGwei: number;
  readonly maxPendingPerSender: number;
  readonly stuckSeconds: number;
  readonly reorgDepth: number;
}

/** A dataset as far as it is known: without its key form as long as only the chain has it. */
export type KnownDataset = Pick<PlannedDataset, "address" | "keyForm">;

/** What the core has to know of a network before it is connected. */
export interface CorePlan {
  readonly chainId: number;
  readonly settings: CoreSettings;
  readonly datasets: readonly PlannedDataset[];
  /** The deployment's other contracts; null without a deployment file. */
  readonly contracts: DeployedContracts | null;
  /** At least one. They may hold tokens, so they are never logged. */
  readonly rpcUrls: readonly RpcEndpoint[];
  /** The configured base URLs of providers. */
  readonly providerUrls: ReadonlyMap<Address, string>;
  /** The contract in which providers announce their URLs; null for the deployment's, if it has one. */
  readonly directory: Address | null;
  readonly standing: Standing;
  /** Checks that the rest of the configuration fits what is deployed. It throws a ConfigError. */
  readonly requireFit: (datasets: readonly KnownDataset[], contracts: DeployedContracts) => void;
}

/** A transaction that the chain does not show for this many polls is rebroadcast. */
const UNSEEN_POLLS = 3;
/** A used nonce whose transaction has no receipt for this long, and for this many polls, is another transaction's. */
const LEAST_LOST_MS = 10_000;
const LOST_POLLS = 5;

export type CoreMetrics = ReturnType<typeof createCoreMetrics>;

/** Creates the metrics that the core counts as things happen. Keys of anonymous requests never become labels. */
export function createCoreMetrics(registry: Registry) {
  const registers = [registry];
  return {
    providerRequests: new Histogram({
      name: "operator_provider_request_duration_seconds",
      help: "Duration of provider requests, by outcome: ok, or the reason why the answer was not used.",
      labelNames: ["network", "provider", "outcome"],
      registers,
    }),
    coalesced: new Counter({
      name: "operator_coalesced_total",
      help: "Work that was shared instead of repeated, by kind.",
      labelNames: ["work"],
      registers,
    }),
    rpcErrors: new Counter({
      name: "operator_rpc_errors_total",
      help: "Failed RPC calls, by class: timeout, failed, or refused if the node answered with an error.",
      labelNames: ["network", "endpoint", "method", "class"],
      registers,
    }),
  } as const;
}

/**
 * Connects a network, from the bottom up: its datasets, their providers, its senders, and what updates each dataset. It
 * checks that every dataset of the deployment is there. Until the last call to the chain has succeeded, nothing runs on,
 * so a failed attempt can be repeated.
 *
 * @throws ConfigError when one of these checks fails, or the directory is not a contract. RpcError.
 */
export async function connectNetwork(
  plan: CorePlan,
  client: ChainClient,
  accounts: readonly LocalAccount[],
  context: Context,
  metrics: CoreMetrics,
): Promise<ServedNetwork> {
  const { chainId, settings, standing } = plan;
  const { clock, closing } = context;
  const logger = context.logger.child({ network: chainId });
  const datasets = await Promise.all(plan.datasets.map((dataset) => connectDataset(client, dataset, context)));
  const contracts = plan.contracts ?? (await findContracts(client));
  plan.requireFit(datasets, contracts);
  const urls = new ProviderUrls(logger, plan.providerUrls);
  const members = () => [...new Set(datasets.flatMap(({ committee }) => committee.current.members))].toSorted();
  const directory = plan.directory ?? contracts.committeeDirectory;
  if (directory !== undefined) await urls.follow(client, directory, members, settings.rpcPollMs, closing);
  const configured = new Set(plan.providerUrls.values());
  const http = new GuardedHttp(context, { configured, allowsLocal: settings.allowLocalProviders });
  const failures = new ProviderFailures({ clock, logger });
  const providers = new Providers(chainId, urls, failures, http, metrics.providerRequests, clock);
  const certificates = new Certificates(urls, http);
  void certificates.follow(members, closing);
  const dryRun = new DryRun(client, context);
  const budgets = createGasBudgets(clock, settings);
  const queues = createQueues(client, plan, accounts, { ...context, logger }, budgets);
  const senders = new Senders(chainId, queues, budgets, clock);
  const served = datasets.map((dataset): NetworkDataset => {
    const source = new ReportSource(dataset, providers, context, settings);
    const builder = new UpdateBuilder(dataset, source, dryRun, clock, metrics.coalesced);
    const broadcasts = new Broadcasts(dataset, builder, senders, metrics.coalesced, context);
    const updates = new Updates(dataset, builder, broadcasts, metrics.coalesced, context, settings);
    return { dataset, source, builder, broadcasts, updates };
  });
  const addresses = accounts.map(({ address }) => address);
  const balances = new SenderBalances(client, addresses, { clock, logger }, settings);
  const about = { datasets: datasets.map(({ address }) => address), senders: addresses, sendsFor: standing.role };
  logger.info(about, "connected");
  // Nobody waits for it: it logs which senders have to be funded.
  void balances.read();
  return {
    chainId,
    client,
    contracts,
    datasets: new Map(served.map((one) => [one.dataset.address, one])),
    providers,
    certificates,
    dryRun,
    senders,
    balances,
    standing,
  };
}

/**
 * Starts the transaction queues, which first recover what an earlier process left pending. By then all keys have to be
 * known that batches can contain.
 *
 * @returns A promise that resolves when every queue has looked for such transactions.
 */
export async function startQueues({ senders, datasets }: ServedNetwork): Promise<void> {
  const recover = (call: ContractCall) => {
    const served = datasets.get(call.to);
    return served === undefined ? null : served.broadcasts.recover(call);
  };
  await Promise.all(senders.queues.map((queue) => queue.start(recover)));
}

function createQueues(
  client: ChainClient,
  { settings }: CorePlan,
  accounts: readonly LocalAccount[],
  { logger, ...context }: Pick<Context, "clock" | "random" | "closing" | "logger">,
  budgets: GasBudgets,
): readonly TransactionQueue[] {
  const limits = {
    stuckMs: settings.stuckSeconds * 1000,
    unseenMs: UNSEEN_POLLS * settings.rpcPollMs,
    lostMs: Math.max(LEAST_LOST_MS, LOST_POLLS * settings.rpcPollMs),
    maxPending: settings.maxPendingPerSender,
    maxFeePerGas: parseGwei(String(settings.maxFeePerGasGwei)),
    maxPriorityFeePerGas: parseGwei(String(Math.min(settings.maxPriorityFeePerGasGwei, settings.maxFeePerGasGwei))),
    pollMs: settings.rpcPollMs,
    reorgDepth: settings.reorgDepth,
  };
  return accounts.map((account) => {
    const own = { ...context, logger: logger.child({ sender: account.address }) };
    return new TransactionQueue(client, account, () => budgets.feeds.open(), own, limits);
  });
}
