import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Abi, type Address, encodeDeployData, getAddress, type Hex, parseEther } from "viem";
import { clientOf } from "./chain-client.js";

/** The price of one query of a test dataset, in wei. */
export const QUERY_PRICE = 1_000n;

/** The settings in which test datasets differ. */
export interface TestDatasetSettings {
  readonly kind?: DatasetKind;
  readonly keyForm?: KeyForm;
  /** An unlocked account. */
  readonly owner?: Address;
  /** The committee, in ascending order; the devnet's providers by default. */
  readonly members?: readonly Address[];
}

/** Deploys a dataset on a development chain, without forge and its scripts. */
export function deployTestDataset(
  chainUrl: string,
  { kind = "median", keyForm = "SPOT_PRICE", owner = OWNER.address, ...changed }: TestDatasetSettings = {},
): Promise<Address> {
  const settings = {
    owner,
    keyForm: KEY_FORMS.indexOf(keyForm),
    maxRoundAge: 300n,
    priceCeiling: parseEther("1"),
    queryPrice: QUERY_PRICE,
    subscriptionPriceCeiling: parseEther("1"),
    subscriptionPrice: parseEther("0.1"),
    toleranceBps: 100n,
    members: PROVIDERS.map(({ address }) => address),
    ...changed,
  };
  const name = kind === "median" ? "MedianDataset" : "MajorityDataset";
  return deployTestContract(chainUrl, name, { abi: datasetAbi, args: [settings], owner });
}

/** Deploys a contract of src/ on a development chain, from an unlocked account. */
export async function deployTestContract(
  chainUrl: string,
  name: string,
  { abi = [], args = [], owner = OWNER.address }: { abi?: Abi; args?: readonly unknown[]; owner?: Address } = {},
): Promise<Address> {
  const client = clientOf(chainUrl);
  const creation = { abi, args, bytecode: readBytecode(name) };
  const estimate = await client.estimateGas({ account: owner, data: encodeDeployData(creation) });
  // An estimate in block 0 is too low: there a dataset's constructor stores a zero, which costs less.
  const gas = (estimate * 5n) / 4n;
  const hash = await client.deployContract({ ...creation, account: owner, gas, chain: null });
  const { contractAddress, status } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress || status !== "success") throw new Error(`${name} was not deployed.`);
  return getAddress(contractAddress);
}

/** Returns the creation code of a contract of src/, or of one that is compiled from another file of this name. */
export function readBytecode(name: string, file = name): Hex {
  const path = join(ROOT, "out", `${file}.sol`, `${name}.json`);
  try {
    return JSON.parse(readFileSync(path, "utf8")).bytecode.object;
  } catch {
    throw new Error(`${name} is not compiled. Run: npm run build:sol`);
  }
}
