import { KEY_FORMS, type KeyForm, keyToAscii } from "@dataset-oracle/protocol/key";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import { ConfigError } from "@dataset-oracle/service/config";
import type { DeployedDataset } from "@dataset-oracle/service/deployment";
import { type Address, type LocalAccount, parseGwei } from "viem";
import { CommitteeWatch } from "./chain/committee-watch.js";
import { readKeyForm, readQueryPrice } from "./chain/contract.js";
import { Lane } from "./chain/lane.js";
import { type Rpc, RpcError } from "./chain/rpc.js";
import { type PoolContext, RpcPool } from "./chain/rpc-pool.js";
import type { NetworkPlan } from "./config.js";
import type { Feed } from "./feeds/pace.js";
import { GasBudget } from "./gas-budget.js";
import type { GatherLimits } from "./reports/gather.js";

/** One dataset that is served. */
export interface Dataset {
  readonly address: Address;
  readonly kind: DatasetKind;
  readonly keyForm: KeyForm;
  /** The ASCII keys that the operator knows of; there can be others. */
  readonly keys: readonly string[];
  /** The largest value that it can store. */
  readonly maxValue: bigint;
  readonly committee: CommitteeWatch;
}

/** The feeds of one dataset. */
export interface DatasetFeeds {
  readonly dataset: Dataset;
  readonly feeds: readonly Feed[];
}

const MAX_VALUES: Record<DatasetKind, bigint> = { median: 2n ** 208n - 1n, majority: 2n ** 256n - 1n };

/** One network that is served, and what this operator may do on it. */
export interface Network {
  readonly chainId: number;
  readonly rpc: RpcPool;
  readonly datasets: ReadonlyMap<Address, Dataset>;
  readonly endpoints: ReadonlyMap<Address, string>;
  readonly limits: GatherLimits;
  /** A stored value younger than this is answered without a transaction; 0: never. */
  readonly minUpdateAgeSeconds: number;
  /** Null where the operator has no key: there it sends nothing. */
  readonly lane: Lane | null;
  readonly gas: GasBudget;
  /** For keys that are stored for the first time. */
  readonly gasForNewKeys: GasBudget;
  /** What the operator keeps fresh by itself, by dataset. */
  readonly feeds: readonly DatasetFeeds[];
  /** Requests cannot use it. */
  readonly gasForFeeds: GasBudget;
  /** How often the feeds are looked at. */
  readonly feedPollMs: number;
}

/**
 * Connects one network: its RPC endpoints must be of the configured chain, and have every dataset of the deployment.
 *
 * @throws ConfigError when it is not, or does not answer.
 */
export async function connectNetwork(
  plan: NetworkPlan,
  account: LocalAccount | null,
  context: PoolContext,
): Promise<Network> {
  const { settings, deployment, endpoints } = plan;
  const { chainId } = deployment;
  const { clock } = context;
  try {
    const rpc = await connectRpcs(plan, context);
    const datasets = await Promise.all(deployment.datasets.map((dataset) => connectDataset(rpc, dataset)));
    return {
      chainId,
      rpc,
      datasets: new Map(datasets.map((dataset) => [dataset.address, dataset])),
      endpoints,
      limits: { timeoutMs: settings.providerTimeoutMs, graceMs: settings.graceMs },
      minUpdateAgeSeconds: settings.minUpdateAgeSeconds,
      lane: account === null ? null : new Lane(rpc, account, clock, parseGwei(String(settings.maxFeePerGasGwei))),
      gas: new GasBudget(BigInt(settings.gasPerHour)),
      gasForNewKeys: new GasBudget(BigInt(settings.gasPerHourForNewKeys)),
      feeds: datasets.flatMap((dataset) => {
        const feeds = plan.feeds.get(dataset.address);
        return feeds === undefined ? [] : [{ dataset, feeds }];
      }),
      gasForFeeds: new GasBudget(BigInt(settings.gasPerHourForFeeds)),
      feedPollMs: settings.feedPollMs,
    };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new ConfigError(
      `network ${chainId}: its RPC cannot be used: ${error.method}: ${error.reason}. Check rpcUrls and the deployment.`,
    );
  }
}

function connectRpcs({ settings, deployment, rpcUrls }: NetworkPlan, context: PoolContext): Promise<RpcPool> {
  const { chainId } = deployment;
  const lag = { blocks: settings.maxHeadLagBlocks, seconds: settings.maxHeadLagSeconds };
  const pool = { timeoutMs: settings.rpcTimeoutMs, pollMs: settings.rpcPollMs, lag };
  return RpcPool.connect(chainId, rpcUrls, pool, { ...context, logger: context.logger.child({ network: chainId }) });
}

async function connectDataset(rpc: Rpc, dataset: DeployedDataset): Promise<Dataset> {
  const { address } = dataset;
  const [keyForm, committee] = await Promise.all([
    readKeyForm(rpc, address),
    CommitteeWatch.load(rpc, address),
    // Read so that a dataset that cannot be queried stops the start, not the first request.
    readQueryPrice(rpc, address),
  ]);
  if (KEY_FORMS[keyForm] !== dataset.keyForm) {
    throw new ConfigError(
      `network ${rpc.chainId}: the keys of dataset ${address} are ${KEY_FORMS[keyForm]}, and its deployment file says ` +
        `${dataset.keyForm}. Correct the file.`,
    );
  }
  const { kind } = dataset;
  const keys = dataset.keys.flatMap((key) => keyToAscii(key) ?? []);
  return { address, kind, keyForm: dataset.keyForm, keys, maxValue: MAX_VALUES[kind], committee };
}
