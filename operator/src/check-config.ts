import type { NetworkPlan } from "./config.js";
import { replicasOf } from "./network.js";
import type { SenderKeys } from "./sender-keys.js";

/**
 * Reports that a configuration is valid, with the warnings about how its keys are kept. Nothing is connected.
 *
 * @throws ConfigError when the replicas and the keys do not fit together.
 */
export function checkConfig(path: string, networks: readonly NetworkPlan[], keys: SenderKeys): void {
  for (const { warnings } of new Set(keys.values())) for (const warning of warnings) console.error(warning);
  for (const network of networks) replicasOf(network, keys.get(network.deployment.chainId)?.accounts ?? []);
  console.log(`${path} is valid. Networks: ${networks.map(({ deployment }) => deployment.chainId).join(", ")}.`);
}
