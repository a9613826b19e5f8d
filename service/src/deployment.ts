import { parseAddress } from "@dataset-oracle/protocol/address";
import { KEY_FORMS } from "@dataset-oracle/protocol/key";
import { DATASET_KINDS } from "@dataset-oracle/protocol/wire";
import { type Static, Type } from "@sinclair/typebox";
import { ConfigError, loadConfig } from "./config.js";

const strict = { additionalProperties: false } as const;

/** `deployments/<chainId>.json`: what `script/` deployed on one network. */
export const Deployment = Type.Object(
  {
    chainId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    datasets: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          address: Type.String(),
          kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
          keyForm: Type.Union(KEY_FORMS.map((form) => Type.Literal(form))),
          keys: Type.Array(Type.String()),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type Deployment = Static<typeof Deployment>;
export type DeployedDataset = Deployment["datasets"][number];

/**
 * Reads a deployment file; addresses come out with their checksum.
 *
 * @throws ConfigError
 */
export function loadDeployment(path: string): Deployment {
  const deployment = loadConfig(path, Deployment);
  const datasets = deployment.datasets.map((dataset) => {
    const address = parseAddress(dataset.address);
    if (!address.ok) throw new ConfigError(`${path}: dataset ${dataset.name}: ${address.problem}`);
    return { ...dataset, address: address.value };
  });
  return { ...deployment, datasets };
}
