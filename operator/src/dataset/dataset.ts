import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import type { KeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import type { Context } from "@dataset-oracle/service/process/context";
import { type Hex, keccak256 } from "viem";
import type { ChainClient } from "../rpc/client.js";
import type { UpdatePolicy } from "../schedule/policy.js";
import { CommitteeCache } from "./committee.js";
import { type DatasetContract, readKindAndForm, readView } from "./contract.js";
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

/** A dataset as it is configured: without a deployment file, only the chain knows its kind and key form. */
export type PlannedDataset = Pick<DeployedDataset, "name" | "address" | "keys"> & Partial<DeployedDataset>;

/**
 * Reads a dataset from its chain, and checks that it is what the deployment file says.
 *
 * @throws ConfigError when it is another contract, or of another kind. RpcError.
 */
export async function connectDataset(
  client: ChainClient,
  planned: PlannedDataset,
  { clock, logger }: Pick<Context, "clock" | "logger">,
): Promise<Dataset> {
  const { address, name, keys } = planned;
  const chainId = client.chain.id;
  const contract = { client, address };
  const onChain = await readKindAndForm(contract, clock);
  for (const field of ["kind", "keyForm"] as const) {
    if (planned[field] === undefined || onChain[field] === planned[field]) continue;
    throw new ConfigError(
      `network ${chainId}: the ${field} of dataset ${address} is ${onChain[field]}, but the deployment file says ` +
        `${planned[field]}. Correct the file.`,
    );
  }
  const [committee, maxRoundAge] = await Promise.all([
    CommitteeCache.load(contract, logger, planned.committee ?? null),
    readView(contract, "maxRoundAge"),
    // A dataset that cannot be queried must make the start fail, not the first request.
    readView(contract, "queryPrice"),
  ]);
  return {
    ...contract,
    ...onChain,
    chainId,
    name,
    committee,
    maxRoundAge,
    keys: new KnownKeys(keys),
    maxValue: MAX_VALUES[onChain.kind],
    storedKeys: new StoredKeyCache(contract),
    digests: new FastReportDigests(chainId, address, keccak),
  };
}

/** The keys of a dataset that the operator's owner names, unlike those that callers name. */
export class KnownKeys {
  readonly #policies = new Map<Hex, UpdatePolicy | null>();
  readonly #byHash = new Map<Hex, Hex>();

  /** @param listed The keys that the deployment lists. */
  constructor(readonly listed: readonly Hex[]) {
    for (const key of listed) this.add(key);
  }

  /** @param policy When the key is updated without a request; null if it is not. */
  add(key: Hex, policy: UpdatePolicy | null = null): void {
    this.#policies.set(key, policy);
    this.#byHash.set(keccak256(key), key);
  }

  has(key: Hex): boolean {
    return this.#policies.has(key);
  }

  [Symbol.iterator](): IterableIterator<Hex> {
    return this.#policies.keys();
  }

  /** Returns when a key is updated without a request; null if it is not. */
  policyOf(key: Hex): UpdatePolicy | null {
    return this.#policies.get(key) ?? null;
  }

  /** Finds the keys of a batch, which names them by hash. Returns null if one is not known. */
  ofHashes(hashes: readonly Hex[]): readonly Hex[] | null {
    const keys = hashes.flatMap((hash) => this.#byHash.get(hash) ?? []);
    return keys.length === hashes.length ? keys : null;
  }
}
