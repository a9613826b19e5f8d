import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import { KEY_FORM_WORDS, matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { requireAddress } from "@dataset-oracle/service/config/require-address";
import { type Static, Type } from "@sinclair/typebox";
import type { Address, Hex } from "viem";
import { heartbeatFault } from "../../schedule/cadence.js";
import { planPolicy, policySettings } from "../../schedule/policy.js";
import type { ScheduledKey } from "../../schedule/transmission-schedule.js";
import type { KnownDataset, Standing } from "../../served-network.js";

/** Feeds of one dataset that share an update policy. */
export const FeedSettings = Type.Object(
  {
    dataset: Type.String({ description: "The address of a dataset of the deployment." }),
    keys: Type.Array(Type.String(), { minItems: 1, description: "Keys in ASCII, or in hex after 0x." }),
    ...policySettings,
  },
  { additionalProperties: false },
);

export type FeedSettings = Static<typeof FeedSettings>;

/** The settings of one network. */
export const feedsSettings = {
  feeds: Type.Array(FeedSettings, { default: [], description: "The keys that the operator keeps fresh by itself." }),
  feedPollMs: Type.Integer({
    minimum: 1,
    maximum: 60_000,
    default: 10_000,
    description:
      "How often an operator that is `alone` compares the feeds with the chain and the providers, in milliseconds.",
  }),
  beatSeconds: Type.Integer({
    minimum: 1,
    maximum: 60,
    default: 5,
    description:
      "How often operators that take turns check the feeds, all at the same time, in seconds. All operators of a " +
      "committee need the same setting.",
  }),
};

/**
 * Groups the feeds of a network by dataset, and checks them against the deployment.
 *
 * @param where The beginning of every error message.
 * @throws ConfigError
 */
export function planFeeds(
  { feeds: settings, beatSeconds }: { readonly feeds: readonly FeedSettings[]; readonly beatSeconds: number },
  { role, stageMs }: Standing,
  datasets: readonly KnownDataset[],
  where: string,
): ReadonlyMap<Address, readonly ScheduledKey[]> {
  const planned = new Map<Address, Map<Hex, ScheduledKey>>();
  for (const [index, feed] of settings.entries()) {
    const at = `${where}: feeds/${index}`;
    const { dataset: text, keys } = feed;
    const address = requireAddress(text, at);
    const dataset = datasets.find((deployed) => deployed.address === address);
    if (dataset === undefined)
      throw new ConfigError(
        `${at}: dataset ${text} is not configured. Correct the address, or add it to the deployment file or to ` +
          "datasets.",
      );
    const policy = planPolicy(feed, at);
    const fault = heartbeatFault(policy, { role, beatSeconds, stageMs });
    if (fault !== null) throw new ConfigError(`${at}: ${fault}`);
    const feeds = planned.get(dataset.address) ?? new Map<Hex, ScheduledKey>();
    planned.set(dataset.address, feeds);
    for (const key of keys) {
      const parsed = parseKey(key);
      if (!parsed.ok) throw new ConfigError(`${at}: key "${key}": ${parsed.error}`);
      const { keyForm } = dataset;
      if (keyForm !== undefined && !matchesKeyForm(keyForm, parsed.value)) {
        throw new ConfigError(`${at}: key "${key}" does not have this dataset's form: ${KEY_FORM_WORDS[keyForm]}.`);
      }
      if (feeds.has(parsed.value)) throw new ConfigError(`${at}: key "${key}" is named twice. Keep one.`);
      feeds.set(parsed.value, { key: parsed.value, policy });
    }
  }
  return new Map([...planned].map(([dataset, feeds]) => [dataset, [...feeds.values()]]));
}
