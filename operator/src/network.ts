import { DATASET_KINDS, type DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { type Address, type Hex, type LocalAccount, parseGwei } from "viem";
import { type ChainClient, connectChain } from "./chain/client.js";
import { CommitteeCache } from "./chain/committee-cache.js";
import { readEvmTooOldReason } from "./chain/evm-support.js";
import { throwIfNotDataset } from "./chain/not-a-dataset.js";
import { readView } from "./chain/read-view.js";
import { RpcError } from "./chain/rpc-error.js";
import type { PoolContext } from "./chain/rpc-pool.js";
import { StoredKeyCache } from "./chain/stored-key-cache.js";
import type { NetworkPlan, NetworkSettings } from "./config.js";
import type { Feed } from "./feeds/feed.js";
import { GasBudget } from "./gas-budget.js";
import { UpdateIndex } from "./history/update-index.js";
import { CommitteeDirectoryWatch } from "./peers/committee-directory-watch.js";
import { Forwarding } from "./peers/forwarding.js";
import { GuardedHttp } from "./peers/guarded-http.js";
import { HeldTransactions } from "./peers/held-transactions.js";
import { NodeAuthentication } from "./peers/node-authentication.js";
import { NodeList, type Nodes } from "./peers/node-list.js";
import { shareTransaction } from "./peers/share-transactions.js";
import type { Context } from "./process-context.js";
import { JoinedReportRequests } from "./providers/joined-report-requests.js";
import { ProviderFailures } from "./providers/provider-failures.js";
import { ProviderUrls } from "./providers/provider-urls.js";
import { HeldStatements } from "./statements/held-statements.js";
import { TransactionQueue } from "./tx/queue.js";
import { Simulator } from "./update/simulator.js";

/** A dataset that the operator serves. */
export interface Dataset {
  readonly address: Address;
  /** Its name in the deployment file; its address if the network has no such file. */
  readonly name: string;
  readonly kind: DatasetKind;
  readonly keyForm: KeyForm;
  /** The keys that the deployment lists. Others can be served as well. */
  readonly keys: readonly Hex[];
  /** The keys that are kept fresh. */
  readonly feeds: readonly Feed[];
  /** The maximum value that it can store. */
  readonly maxValue: bigint;
  /** How old a round may be when it is stored, in seconds. */
  readonly maxRoundAge: bigint;
  readonly committee: CommitteeCache;
  readonly updateIndex: UpdateIndex;
  readonly digests: FastReportDigests;
}

/** A transaction that the chain does not show for this many polls is rebroadcast. */
const UNSEEN_POLLS = 3;
const MAX_VALUES: Record<DatasetKind, bigint> = { median: 2n ** 208n - 1n, majority: 2n ** 256n - 1n };

/** A network that the operator serves: its chain, datasets, senders, budgets and feeds. */
export interface Network {
  readonly chainId: number;
  readonly client: ChainClient;
  readonly simulator: Simulator;
  readonly datasets: ReadonlyMap<Address, Dataset>;
  readonly providerUrls: ProviderUrls;
  readonly providerFailures: ProviderFailures;
  /** Asks providers and nodes. */
  readonly http: GuardedHttp;
  readonly reportRequests: JoinedReportRequests;
  readonly storedKeys: StoredKeyCache;
  /** The reports and rows that the members of the committees have signed recently. */
  readonly statements: HeldStatements;
  /** The contract where request specs are published; null if the deployment names none. */
  readonly registry: Address | null;
  /** The ERC-3668 lens; null if the deployment names none. */
  readonly verifiedLens: Address | null;
  readonly settings: NetworkSettings;
  /** The transaction queue of each sender; none where the operator has no key and so sends nothing. */
  readonly queues: readonly TransactionQueue[];
  /** The gas budget of requests for stored keys. */
  readonly gas: GasBudget;
  /** The gas budget of requests for keys that are stored for the first time. */
  readonly gasForNewKeys: GasBudget;
  /** The gas budget of the feeds. */
  readonly gasForFeeds: GasBudget;
  readonly nodes: Nodes;
  /** Follows the nodes that are announced on chain; null without a directory. */
  readonly directory: CommitteeDirectoryWatch | null;
  /** False where there can be no other node. */
  readonly canHaveOtherNodes: boolean;
  /** The transactions that this node and the others have signed, whether the chain has them or not. */
  readonly transactions: HeldTransactions;
  /** Null where there can be no other node, or this one has no account to sign with. */
  readonly authentication: NodeAuthentication | null;
  /** Null if `authentication` is null. */
  readonly forwarding: Forwarding | null;
}

export function datasetsWithFeeds({ datasets }: Pick<Network, "datasets">): readonly Dataset[] {
  return [...datasets.values()].filter(({ feeds }) => feeds.length > 0);
}

/**
 * Connects a network, and checks that its RPC endpoints are of the configured chain and have every dataset of the
 * deployment.
 *
 * @throws ConfigError when one of these checks fails, no endpoint answers, the directory is not a contract, or `peers`
 * names several of the accounts.
 */
export async function connectNetwork(
  plan: NetworkPlan,
  accounts: readonly LocalAccount[],
  context: Context,
): Promise<Network> {
  const { settings, deployment } = plan;
  const { chainId } = deployment;
  const nodes = nodesOf(plan, accounts);
  const directoryAddress = plan.committeeDirectory;
  const canHaveOtherNodes = plan.peers.length > 0 || directoryAddress !== null;
  const authentication =
    canHaveOtherNodes && accounts.length > 0 ? new NodeAuthentication(chainId, nodes, accounts, context.clock) : null;
  const urls = new Set([...plan.endpoints.values(), ...plan.peers.map(({ url }) => url)]);
  const http = new GuardedHttp(urls, settings.allowLocalNodes, context.closing);
  const logger = context.logger.child({ network: chainId });
  const providerUrls = new ProviderUrls(chainId, plan.endpoints, nodes, http, logger);
  const transactions = new HeldTransactions(nodes);
  const share = (raw: Hex) => shareTransaction({ chainId, nodes, http, transactions }, raw);
  try {
    const client = await connectChain(chainId, plan.rpcUrls, settings, { ...context, logger });
    const reason = await readEvmTooOldReason(client);
    if (reason !== null) {
      logger.warn({ reason }, "the chain's EVM is older than Cancun: updates can fail");
    }
    const datasets = await Promise.all(
      deployment.datasets.map((dataset) =>
        connectDataset(client, dataset, plan, context).catch((error: unknown) => {
          const { address, name } = dataset;
          const where = `network ${chainId}: ${address}, the dataset "${name}" of the deployment file`;
          const fix =
            "Correct its address in the deployment file, or rpcUrls if they are of another chain with this id.";
          return throwIfNotDataset(client, { address, where, fix }, error);
        }),
      ),
    );
    const directory =
      directoryAddress &&
      new CommitteeDirectoryWatch(context, client, directoryAddress, datasets, nodes, providerUrls, settings);
    await directory?.start();
    return {
      chainId,
      client,
      simulator: new Simulator(client, context.clock, context.closing),
      datasets: new Map(datasets.map((dataset) => [dataset.address, dataset])),
      providerUrls,
      providerFailures: new ProviderFailures(logger, context.clock),
      http,
      reportRequests: new JoinedReportRequests(http, context.clock),
      storedKeys: new StoredKeyCache(client),
      statements: new HeldStatements(context.clock),
      registry: deployment.webOracleRegistry ?? null,
      verifiedLens: deployment.verifiedLens ?? null,
      settings,
      queues: createQueues(client, plan, accounts, context, share),
      gas: new GasBudget(BigInt(settings.gasPerHour), settings.gasPercentPerCaller),
      gasForNewKeys: new GasBudget(BigInt(settings.gasPerHourForNewKeys), settings.gasPercentPerCaller),
      gasForFeeds: new GasBudget(BigInt(settings.gasPerHourForFeeds)),
      nodes,
      directory,
      canHaveOtherNodes,
      transactions,
      authentication,
      forwarding: authentication && new Forwarding(context, nodes, authentication, http),
    };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new ConfigError(
      `network ${chainId}: its RPC cannot be used: ${error.method}: ${error.reason}. Check rpcUrls and the deployment.`,
    );
  }
}

/** @throws ConfigError when `peers` names several of the accounts. */
export function nodesOf({ peers, deployment }: NetworkPlan, accounts: readonly LocalAccount[]): NodeList {
  const senders = accounts.map(({ address }) => address);
  return new NodeList(peers, senders, `network ${deployment.chainId}`);
}

function createQueues(
  client: ChainClient,
  { settings, feeds }: NetworkPlan,
  accounts: readonly LocalAccount[],
  { clock, logger, closing }: PoolContext,
  onSubmitted: (raw: Hex) => void,
): readonly TransactionQueue[] {
  const limits = {
    stuckMs: settings.stuckSeconds * 1000,
    unseenMs: UNSEEN_POLLS * settings.rpcPollMs,
    maxPending: settings.maxPendingPerSender,
    reservedForFeeds: feeds.size > 0 ? Math.floor(settings.maxPendingPerSender / 4) : 0,
    maxFeePerGas: parseGwei(String(settings.maxFeePerGasGwei)),
    maxPriorityFeePerGas: parseGwei(String(Math.min(settings.maxPriorityFeePerGasGwei, settings.maxFeePerGasGwei))),
    pollMs: settings.rpcPollMs,
    reorgDepth: settings.reorgDepth,
  };
  return accounts.map((account) => {
    const queueLogger = logger.child({ network: client.chain.id, sender: account.address });
    return new TransactionQueue(client, account, limits, { clock, logger: queueLogger, closing, onSubmitted });
  });
}

async function connectDataset(
  client: ChainClient,
  dataset: DeployedDataset,
  { settings, feeds }: NetworkPlan,
  context: Context,
): Promise<Dataset> {
  const { address } = dataset;
  const [judgement, keyForm, committee, maxRoundAge] = await Promise.all([
    readView(client, address, "judgement"),
    readView(client, address, "keyForm"),
    CommitteeCache.load(client, address, context.logger),
    readView(client, address, "maxRoundAge"),
    // A dataset that cannot be queried must make the start fail, not the first request.
    readView(client, address, "queryPrice"),
  ]);
  const onChain = { kind: DATASET_KINDS[judgement], keyForm: KEY_FORMS[keyForm] };
  for (const name of ["kind", "keyForm"] as const) {
    if (onChain[name] === dataset[name]) continue;
    throw new ConfigError(
      `network ${client.chain.id}: the ${name} of dataset ${address} is ${onChain[name]}, but the deployment file says ` +
        `${dataset[name]}. Correct the file.`,
    );
  }
  const { kind, name } = dataset;
  return {
    address,
    name,
    kind,
    keyForm: dataset.keyForm,
    keys: dataset.keys,
    feeds: feeds.get(address) ?? [],
    maxValue: MAX_VALUES[kind],
    maxRoundAge,
    committee,
    updateIndex: new UpdateIndex(client, address, settings, context),
    digests: new FastReportDigests(client.chain.id, address, keccak),
  };
}
