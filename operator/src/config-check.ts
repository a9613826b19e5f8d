import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { NetworkPlan } from "./config.js";
import type { SenderAccounts } from "./transactions/accounts.js";

/**
 * Prints what `--check-config` finds in a configuration that was read: warnings about how its keys are kept, and about
 * feeds that are not sent or may not be served; then the senders. It connects to nothing.
 */
export function printConfigCheck(networks: readonly NetworkPlan[], senders: SenderAccounts): void {
  const accountsOf = (chainId: number) => senders.get(chainId)?.accounts ?? [];
  for (const { warnings } of new Set(senders.values())) for (const warning of warnings) console.error(warning);
  for (const { deployment, feeds } of networks) {
    if (feeds.size === 0 || senders.has(deployment.chainId)) continue;
    console.error(
      `network ${deployment.chainId}: its feeds are not sent, because it has no sender. Set OPERATOR_KEYSTORE or ` +
        "OPERATOR_PRIVATE_KEY_FILE, or remove feeds.",
    );
  }
  for (const warning of networks.flatMap(unlistedFeeds)) console.error(warning);
  for (const { deployment } of networks) {
    const addresses = accountsOf(deployment.chainId).map(({ address }) => address);
    console.log(
      `Senders on network ${deployment.chainId}: ${addresses.join(", ") || "none, so nothing is broadcast"}.`,
    );
  }
}

/** Names the feeds of spot prices that the deployment does not list: only the providers know if they serve them. */
function unlistedFeeds({ deployment, feeds }: NetworkPlan): string[] {
  return deployment.datasets.flatMap(({ address, keyForm, keys }) => {
    if (keyForm !== "SPOT_PRICE" || keys.length === 0) return [];
    const unlisted = (feeds.get(address) ?? []).filter(({ key }) => !keys.includes(key));
    return unlisted.map(
      ({ key }) =>
        `network ${deployment.chainId}: feed key "${keyToAscii(key)}" is not one of the keys that the deployment lists for ` +
        `${address}. If too few providers serve it, it is never stored: correct the key, or ask the providers' owners to ` +
        "serve it.",
    );
  });
}
