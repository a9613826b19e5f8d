import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { NetworkPlan } from "./config.js";
import type { SenderAccounts } from "./sender-accounts.js";

/**
 * Prints warnings about a valid configuration: about how its keys are kept, and about feeds that are not sent or may not
 * be served. It connects to nothing.
 */
export function printConfigWarnings(networks: readonly NetworkPlan[], senders: SenderAccounts): void {
  for (const { warnings } of new Set(senders.values())) for (const warning of warnings) console.error(warning);
  for (const { deployment, feeds } of networks) {
    if (feeds.size === 0 || senders.has(deployment.chainId)) continue;
    console.error(
      `network ${deployment.chainId}: its feeds are not sent, because it has no sender. Set OPERATOR_KEYSTORE or ` +
        "OPERATOR_PRIVATE_KEY_FILE, or remove feeds.",
    );
  }
  for (const warning of networks.flatMap(unlistedFeeds)) console.error(warning);
}

/** Names the feeds of spot prices that the deployment does not list: only the providers know if they serve them. */
function unlistedFeeds({ deployment, feeds }: NetworkPlan): string[] {
  return deployment.datasets.flatMap(({ address, keyForm, keys }) => {
    if (keyForm !== "SPOT_PRICE" || keys.length === 0) return [];
    const unlisted = (feeds.get(address) ?? []).filter(({ key }) => !keys.includes(key));
    return unlisted.map(
      ({ key }) =>
        `network ${deployment.chainId}: feed key "${keyToAscii(key)}" is not one of the keys that the deployment lists for ` +
        `${address}. If too few providers serve it, it is never stored: correct it, or ask the providers' owners.`,
    );
  });
}
