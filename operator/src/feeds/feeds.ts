import { parseAddress } from "@dataset-oracle/protocol/address";
import { matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";
import { ConfigError } from "@dataset-oracle/service/config";
import type { DeployedDataset } from "@dataset-oracle/service/deployment";
import type { Address, Hex } from "viem";
import type { FeedSettings } from "../config.js";
import type { Feed } from "./policy.js";

/**
 * The feeds of a network by dataset, checked against what is deployed.
 *
 * @param where What errors begin with.
 * @throws ConfigError
 */
export function planFeeds(
  settings: readonly FeedSettings[],
  datasets: readonly DeployedDataset[],
  where: string,
): ReadonlyMap<Address, readonly Feed[]> {
  const planned = new Map<Address, Map<Hex, Feed>>();
  for (const [place, feed] of settings.entries()) {
    const at = `${where}: feeds/${place}`;
    const { dataset: text, keys, ...policy } = feed;
    const address = parseAddress(text);
    if (!address.ok) throw new ConfigError(`${at}: ${address.error}`);
    const dataset = datasets.find((deployed) => deployed.address === address.value);
    if (dataset === undefined) throw new ConfigError(`${at}: dataset ${text} is not in the deployment. Correct it.`);
    if (policy.minIntervalSeconds > policy.heartbeatSeconds) {
      throw new ConfigError(`${at}: minIntervalSeconds is longer than heartbeatSeconds. Make it shorter.`);
    }
    const feeds = planned.get(dataset.address) ?? new Map<Hex, Feed>();
    planned.set(dataset.address, feeds);
    for (const key of keys) {
      const parsed = parseKey(key);
      if (!parsed.ok) throw new ConfigError(`${at}: key "${key}": ${parsed.error}`);
      if (!matchesKeyForm(dataset.keyForm, parsed.value)) {
        throw new ConfigError(`${at}: key "${key}" is not of the form ${dataset.keyForm}.`);
      }
      if (feeds.has(parsed.value)) throw new ConfigError(`${at}: key "${key}" is named twice. Keep one.`);
      feeds.set(parsed.value, { key: parsed.value, policy });
    }
  }
  return new Map([...planned].map(([dataset, feeds]) => [dataset, [...feeds.values()]]));
}
