import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import { DATASET_KINDS } from "@dataset-oracle/protocol/dataset-kind";
import { oneOf, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { KEY_FORM_WORDS, KEY_FORMS, type KeyForm, matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { type Static, Type } from "@sinclair/typebox";
import type { Address, Hex } from "viem";
import { ConfigError } from "./config-error.js";
import { loadConfig } from "./load-config.js";
import { requireAddress } from "./require-address.js";

const DatasetFile = Type.Object(
  {
    address: Type.String(),
    kind: oneOf(DATASET_KINDS),
    keyForm: oneOf(KEY_FORMS),
    keys: Type.Array(Type.String()),
  },
  strict,
);

/** The schema of `deployments/<chainId>.json`, which `script/` writes for one network. */
const DeploymentFile = Type.Object(
  {
    chainId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    datasets: Type.Record(Type.String(), DatasetFile),
    webOracleRegistry: Type.Optional(
      Type.String({ description: "The contract in which request specs are published." }),
    ),
    verifiedLens: Type.Optional(
      Type.String({ description: "The lens (ERC-3668) through which anyone can read a verified value for free." }),
    ),
    committeeDirectory: Type.Optional(
      Type.String({ description: "The contract in which data providers announce their URLs." }),
    ),
  },
  strict,
);

export interface DeployedDataset extends Omit<Static<typeof DatasetFile>, "address" | "keys"> {
  readonly name: string;
  readonly address: Address;
  /** The listed keys. A WEB_ORACLE dataset may list none, because anyone can create keys by publishing a spec. */
  readonly keys: readonly Hex[];
}

export interface Deployment {
  readonly chainId: number;
  readonly datasets: readonly DeployedDataset[];
  /** The registry of request specs, when the network has one. */
  readonly webOracleRegistry?: Address;
  /** The lens for verified reads (ERC-3668), when the network has one. */
  readonly verifiedLens?: Address;
  /** The directory of the data providers' URLs, when the network has one. */
  readonly committeeDirectory?: Address;
}

/**
 * Reads a deployment file. Addresses get their checksum, keys become lower-case hex.
 *
 * @throws ConfigError
 */
export function loadDeployment(path: string): Deployment {
  const { chainId, datasets, ...others } = loadConfig(path, DeploymentFile);
  const contracts = Object.entries(others).map(([name, address]) => [
    name,
    requireAddress(address, `${path}: ${name}`),
  ]);
  return {
    chainId,
    datasets: Object.entries(datasets).map(([name, dataset]) => {
      const where = `${path}: dataset ${name}`;
      return {
        ...dataset,
        name,
        address: requireAddress(dataset.address, where),
        keys: dataset.keys.map((text) => requireKey(text, dataset.keyForm, where)),
      };
    }),
    ...Object.fromEntries(contracts),
  };
}

function requireKey(text: string, form: KeyForm, where: string): Hex {
  const key = parseKey(text);
  if (!key.ok) throw new ConfigError(`${where}: key "${text}": ${key.error}`);
  if (!matchesKeyForm(form, key.value))
    throw new ConfigError(`${where}: key "${text}" does not have this dataset's form: ${KEY_FORM_WORDS[form]}.`);
  return key.value;
}
