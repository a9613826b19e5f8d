import { KEY_FORMS, type KeyForm, keyToAscii } from "@dataset-oracle/protocol/key";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import { ConfigError } from "@dataset-oracle/service/config";
import type { DeployedDataset } from "@dataset-oracle/service/deployment";
import { type Address, type LocalAccount, parseGwei } from "viem";
import { CommitteeWatch } from "./chain/committee-watch.js";
import { readKeyForm, readQueryPrice } from "./chain/contract.js";
import { Lane } from "./chain/lane.js";
import { connectRpc, type Rpc, RpcError, requestQuantity } from "./chain/rpc.js";
import type { Clock } from "./clock.js";
import type { NetworkPlan } from "./config.js";
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

const MAX_VALUES: Record<DatasetKind, bigint> = { median: 2n ** 208n - 1n, majority: 2n ** 256n - 1n };

/** One network that is served, and what this operator may do on it. */
export interface Network {
  readonly chainId: number;
  readonly rpc: Rpc;
  readonly datasets: ReadonlyMap<Address, Dataset>;
  readonly endpoints: ReadonlyMap<Address, string>;
  readonly limits: GatherLimits;
  /** Null where the operator has no key: there it sends nothing. */
  readonly lane: Lane | null;
  readonly gas: GasBudget;
  /** For keys that are stored for the first time. */
  readonly gasForNewKeys: GasBudget;
}

/**
 * Connects one network: its RPC must be of the configured chain, and have every dataset of the deployment.
 *
 * @throws ConfigError when it is not, or does not answer.
 */
export async function connectNetwork(plan: NetworkPlan, account: LocalAccount | null, clock: Clock): Promise<Network> {
  const { settings, deployment, endpoints } = plan;
  const { chainId } = deployment;
  const rpc = connectRpc(chainId, plan.rpcUrl, settings.rpcTimeoutMs);
  try {
    await checkChainId(rpc);
    const datasets = await Promise.all(deployment.datasets.map((dataset) => connectDataset(rpc, dataset)));
    return {
      chainId,
      rpc,
      datasets: new Map(datasets.map((dataset) => [dataset.address, dataset])),
      endpoints,
      limits: { timeoutMs: settings.providerTimeoutMs, graceMs: settings.graceMs },
      lane: account === null ? null : new Lane(rpc, account, clock, parseGwei(String(settings.maxFeePerGasGwei))),
      gas: new GasBudget(BigInt(settings.gasPerHour)),
      gasForNewKeys: new GasBudget(BigInt(settings.gasPerHourForNewKeys)),
    };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new ConfigError(
      `network ${chainId}: its RPC cannot be used: ${error.method}: ${error.reason}. Check rpcUrl and the deployment.`,
    );
  }
}

async function checkChainId(rpc: Rpc): Promise<void> {
  const chainId = Number(await requestQuantity(rpc, "eth_chainId", []));
  if (chainId !== rpc.chainId) {
    throw new ConfigError(
      `network ${rpc.chainId}: its RPC is of network ${chainId}. Correct rpcUrl, or name the deployment of ${chainId}.`,
    );
  }
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
