import { DATASET_KINDS, type DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import type { Logger } from "pino";
import type { ChainClient } from "../rpc/client.js";
import { CommitteeCache } from "./committee.js";
import { type DatasetContract, readView, throwIfNotDataset } from "./contract.js";
import { KnownKeys } from "./known-keys.js";
import { StoredKeyCache } from "./stored-values.js";

/** A dataset that the operator serves, as its chain has it. */
export interface Dataset extends DatasetContract {
  readonly chainId: number;
  /** Its name in the deployment file; its address if the network has no such file. */
  readonly name: string;
  readonly kind: DatasetKind;
  readonly keyForm: KeyForm;
  readonly keys: KnownKeys;
  /** The maximum value that it can store. */
  readonly maxValue: bigint;
  /** How old a round may be when it is stored, in seconds. */
  readonly maxRoundAge: bigint;
  readonly committee: CommitteeCache;
  readonly storedKeys: StoredKeyCache;
  readonly digests: FastReportDigests;
}

const MAX_VALUES: Record<DatasetKind, bigint> = { median: 2n ** 208n - 1n, majority: 2n ** 256n - 1n };

/**
 * Reads a dataset of the deployment from its chain, and checks that it is what the deployment says.
 *
 * @throws ConfigError when it is another contract, or of another kind. RpcError.
 */
export async function connectDataset(client: ChainClient, deployed: DeployedDataset, logger: Logger): Promise<Dataset> {
  try {
    return await readDataset(client, deployed, logger);
  } catch (error) {
    const { address, name } = deployed;
    const where = `network ${client.chain.id}: ${address}, the dataset "${name}" of the deployment file`;
    const fix = "Correct its address in the deployment file, or rpcUrls if they are of another chain with this id.";
    return throwIfNotDataset(client, { address, where, fix }, error);
  }
}

async function readDataset(client: ChainClient, deployed: DeployedDataset, logger: Logger): Promise<Dataset> {
  const { address, name, kind, keyForm, keys } = deployed;
  const chainId = client.chain.id;
  const contract = { client, address };
  const [judgement, form, committee, maxRoundAge] = await Promise.all([
    readView(contract, "judgement"),
    readView(contract, "keyForm"),
    CommitteeCache.load(contract, logger),
    readView(contract, "maxRoundAge"),
    // A dataset that cannot be queried must make the start fail, not the first request.
    readView(contract, "queryPrice"),
  ]);
  const onChain = { kind: DATASET_KINDS[judgement], keyForm: KEY_FORMS[form] };
  for (const field of ["kind", "keyForm"] as const) {
    if (onChain[field] === deployed[field]) continue;
    throw new ConfigError(
      `network ${chainId}: the ${field} of dataset ${address} is ${onChain[field]}, but the deployment file says ` +
        `${deployed[field]}. Correct the file.`,
    );
  }
  return {
    ...{ chainId, ...contract, name, kind, keyForm, committee, maxRoundAge },
    keys: new KnownKeys(keys),
    maxValue: MAX_VALUES[kind],
    storedKeys: new StoredKeyCache(contract),
    digests: new FastReportDigests(chainId, address, keccak),
  };
}
