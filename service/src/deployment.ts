import { parseAddress } from "@dataset-oracle/protocol/address";
import { KEY_FORMS, type KeyForm, matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";
import { DATASET_KINDS } from "@dataset-oracle/protocol/wire";
import { type Static, Type } from "@sinclair/typebox";
import type { Address } from "viem";
import { ConfigError, loadConfig } from "./config.js";

const strict = { additionalProperties: false } as const;

const DatasetFile = Type.Object(
  {
    address: Type.String(),
    kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
    keyForm: Type.Union(KEY_FORMS.map((form) => Type.Literal(form))),
    keys: Type.Array(Type.String()),
  },
  strict,
);

/** `deployments/<chainId>.json`: the datasets that `script/` deployed on one network, by name. */
export const DeploymentFile = Type.Object(
  {
    chainId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    datasets: Type.Record(Type.String(), DatasetFile),
  },
  strict,
);

export interface DeployedDataset extends Omit<Static<typeof DatasetFile>, "address"> {
  readonly name: string;
  readonly address: Address;
}

export interface Deployment {
  readonly chainId: number;
  readonly datasets: readonly DeployedDataset[];
}

/**
 * Reads a deployment file; addresses come out with their checksum.
 *
 * @throws ConfigError
 */
export function loadDeployment(path: string): Deployment {
  const { chainId, datasets } = loadConfig(path, DeploymentFile);
  return {
    chainId,
    datasets: Object.entries(datasets).map(([name, dataset]) => {
      const address = parseAddress(dataset.address);
      if (!address.ok) throw new ConfigError(`${path}: dataset ${name}: ${address.problem}`);
      for (const text of dataset.keys) requireKey(text, dataset.keyForm, `${path}: dataset ${name}`);
      return { ...dataset, name, address: address.value };
    }),
  };
}

function requireKey(text: string, form: KeyForm, where: string): void {
  const key = parseKey(text);
  if (!key.ok) throw new ConfigError(`${where}: key "${text}": ${key.problem}`);
  if (!matchesKeyForm(form, key.value)) throw new ConfigError(`${where}: key "${text}" is not of the form ${form}.`);
}
