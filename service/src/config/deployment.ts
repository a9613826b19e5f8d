import type { Committee } from "@dataset-oracle/protocol/committee-hash";
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
    members: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 255 })),
    toleranceBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
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

export interface DeployedDataset extends Pick<Static<typeof DatasetFile>, "kind" | "keyForm"> {
  readonly name: string;
  readonly address: Address;
  /** The listed keys. A WEB_ORACLE dataset may list none, because anyone can create keys by publishing a spec. */
  readonly keys: readonly Hex[];
  /** The committee when the file was written: only a dataset whose hash it has still has it. */
  readonly committee?: Committee;
}

/** The contracts of a network besides its datasets. */
export interface DeployedContracts {
  /** The registry of request specs, when the network has one. */
  readonly webOracleRegistry?: Address;
  /** The lens for verified reads (ERC-3668), when the network has one. */
  readonly verifiedLens?: Address;
  /** The directory of the data providers' URLs, when the network has one. */
  readonly committeeDirectory?: Address;
}

export interface Deployment extends DeployedContracts {
  readonly chainId: number;
  readonly datasets: readonly DeployedDataset[];
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
    datasets: Object.entries(datasets).map(([name, { kind, keyForm, members, toleranceBps, ...dataset }]) => {
      const where = `${path}: dataset ${name}`;
      if ((members === undefined) !== (toleranceBps === undefined))
        throw new ConfigError(`${where}: only one of members and toleranceBps is set. Add the other, or remove it.`);
      return {
        name,
        kind,
        keyForm,
        address: requireAddress(dataset.address, where),
        keys: dataset.keys.map((text) => requireKey(text, keyForm, where)),
        ...(members !== undefined &&
          toleranceBps !== undefined && { committee: readCommittee(members, toleranceBps, where) }),
      };
    }),
    ...Object.fromEntries(contracts),
  };
}

/** Its members may be in any order in the file. */
function readCommittee(members: readonly string[], toleranceBps: number, where: string): Committee {
  const addresses = members.map((text) => requireAddress(text, `${where}: members`));
  const ascending = addresses.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  return { members: ascending, toleranceBps: BigInt(toleranceBps) };
}

function requireKey(text: string, form: KeyForm, where: string): Hex {
  const key = parseKey(text);
  if (!key.ok) throw new ConfigError(`${where}: key "${text}": ${key.error}`);
  if (!matchesKeyForm(form, key.value))
    throw new ConfigError(`${where}: key "${text}" does not have this dataset's form: ${KEY_FORM_WORDS[form]}.`);
  return key.value;
}
