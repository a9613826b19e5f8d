import { dirname, resolve } from "node:path";
import { parseAddress } from "@dataset-oracle/protocol/address";
import { AddressRanges } from "@dataset-oracle/service/address-ranges";
import { ConfigError, loadConfig } from "@dataset-oracle/service/config";
import { MaxConnections } from "@dataset-oracle/service/connections";
import { type Deployment, loadDeployment } from "@dataset-oracle/service/deployment";
import { metricsSettings } from "@dataset-oracle/service/metrics";
import { expandRpcUrl } from "@dataset-oracle/service/rpc-url";
import { type Static, Type } from "@sinclair/typebox";
import type { Address } from "viem";
import { planFeeds } from "./feeds/feeds.js";
import type { Feed } from "./feeds/policy.js";

const strict = { additionalProperties: false } as const;

const milliseconds = (defaultMs: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 60_000, default: defaultMs, description });

const ProviderSettings = Type.Object(
  {
    address: Type.String({ description: "The provider's signing address, a member of a dataset's committee." }),
    url: Type.String({
      pattern: "^https?://[^\\s@?#]+$",
      description: "Where it is asked: <url>/report. Shown to everyone by GET /datasets, so it holds no secret.",
    }),
  },
  strict,
);

const seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 31_536_000, description });

const FeedSettings = Type.Object(
  {
    dataset: Type.String({ description: "The address of a dataset of the deployment." }),
    keys: Type.Array(Type.String(), { description: "Keys in ASCII, or in hex after 0x." }),
    heartbeatSeconds: seconds("The age at which a key is updated in any case."),
    deviationBps: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "How far a value must have moved to be updated earlier, in basis points of what is stored.",
    }),
    minIntervalSeconds: seconds("The age below which a key is not updated."),
  },
  strict,
);

export type FeedSettings = Static<typeof FeedSettings>;

const NetworkSettings = Type.Object(
  {
    deployment: Type.String({
      description: "Path of the deployment file that names the chain id and the datasets, relative to this file.",
    }),
    rpcUrls: Type.Array(Type.String({ minLength: 1 }), {
      description:
        "The JSON-RPC endpoints, the preferred ones first. $ and a name in braces stand for that variable of the " +
        "environment. Never logged.",
    }),
    providers: Type.Array(ProviderSettings, { description: "The endpoints of the committees' members." }),
    gasPerHour: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 30_000_000,
      description: "Gas units that broadcasting may use in any hour, for keys that are already stored.",
    }),
    gasPerHourForNewKeys: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 3_000_000,
      description: "Gas units that broadcasting may use in any hour, for keys that are stored for the first time.",
    }),
    feeds: Type.Array(FeedSettings, {
      default: [],
      description: "What the operator keeps fresh by itself.",
    }),
    gasPerHourForFeeds: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 30_000_000,
      description: "Gas units that the feeds' updates may use in any hour. Requests cannot use them.",
    }),
    historyBlocks: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 100_000,
      description: "How many blocks one request to GET /history may look at.",
    }),
    lowBalanceGwei: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 50_000_000,
      description: "GET /ready says so when a sender has less, in gwei.",
    }),
    feedPollMs: milliseconds(10_000, "How often the feeds are looked at, on the chain and at the providers."),
    replicas: Type.Array(Type.String(), {
      default: [],
      description: "Where several replicas share the feeds: one sender's address of each, this one's too.",
    }),
    failoverSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: "How long a replica waits for the one before it to update a feed, in seconds.",
    }),
    maxFeePerGasGwei: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 500,
      description: "The most that a transaction offers for one unit of gas, tip included, in gwei.",
    }),
    minUpdateAgeSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 0,
      description: "A stored value younger than this is answered without a transaction; 0: each request sends one.",
    }),
    maxPendingPerSender: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 16,
      description: "How many transactions of one sender may be on their way. Nodes have bounds of their own, often 16.",
    }),
    stuckSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description:
        "A transaction that is not mined for so long is replaced by the newest round of its key, in seconds.",
    }),
    reorgDepth: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 8,
      description: "For how many blocks a mined update is watched: if the chain drops it, the newest round is sent.",
    }),
    rpcTimeoutMs: milliseconds(5_000, "How long one call to one RPC endpoint may take."),
    rpcPollMs: milliseconds(2_000, "How often the head of each RPC endpoint is looked at."),
    maxHeadLagBlocks: Type.Integer({
      minimum: 0,
      default: 10,
      description: "An RPC endpoint that is more blocks behind the best is not read from.",
    }),
    maxHeadLagSeconds: Type.Integer({
      minimum: 0,
      default: 30,
      description: "The same, by the time of the blocks, in seconds.",
    }),
    providerTimeoutMs: milliseconds(5_000, "How long one provider may take to answer."),
    graceMs: milliseconds(500, "Once a quorum has answered, how long the other providers are still waited for."),
  },
  strict,
);
export type NetworkSettings = Static<typeof NetworkSettings>;

/** The operator's configuration file. */
export const OperatorConfig = Type.Object(
  {
    host: Type.String({ default: "127.0.0.1", description: "The address to listen on." }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: "The port; 0 takes a free one." }),
    basePath: Type.String({
      pattern: "^(/[A-Za-z0-9._~-]+)*$",
      default: "",
      description: "The path of the base URL, for example /oracle: then requests go to /oracle/data/request.",
    }),
    logLevel: Type.Union(
      ["fatal", "error", "warn", "info", "debug", "silent"].map((level) => Type.Literal(level)),
      { default: "info", description: "The least severe log lines to write." },
    ),
    ...metricsSettings(9_464),
    requestsPerMinute: Type.Integer({
      minimum: 1,
      default: 60,
      description: "Requests a minute that one caller may make.",
    }),
    broadcastsPerMinute: Type.Integer({
      minimum: 1,
      default: 20,
      description: 'Requests a minute with "broadcast": true that one caller may make: each can cost gas.',
    }),
    maxConnections: MaxConnections,
    trustedProxies: AddressRanges({
      description: "Addresses or CIDR ranges of the reverse proxies whose X-Forwarded-For is believed.",
    }),
    networks: Type.Array(NetworkSettings, { minItems: 1, description: "The networks served." }),
  },
  strict,
);
export type OperatorConfig = Static<typeof OperatorConfig>;

/** One network's settings, with everything they point at read. */
export interface NetworkPlan {
  readonly settings: NetworkSettings;
  readonly deployment: Deployment;
  /** At least one. They may hold tokens: never logged. */
  readonly rpcUrls: readonly string[];
  readonly endpoints: ReadonlyMap<Address, string>;
  /** One sender of each replica; no address twice. */
  readonly replicas: readonly Address[];
  /** By dataset; no key twice. */
  readonly feeds: ReadonlyMap<Address, readonly Feed[]>;
}

export interface OperatorPlan {
  readonly config: OperatorConfig;
  readonly networks: readonly NetworkPlan[];
}

/**
 * Reads the configuration file and the deployment files it names. Nothing is connected.
 *
 * @throws ConfigError that names what to mend.
 */
export function loadOperatorConfig(path: string, env: NodeJS.ProcessEnv): OperatorPlan {
  const config = loadConfig(path, OperatorConfig);
  const networks = config.networks.map((settings) => planNetwork(settings, dirname(path), env));
  const ids = networks.map(({ deployment }) => deployment.chainId);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new ConfigError(`${path}: network ${repeated} is configured twice. Keep one.`);
  return { config, networks };
}

function planNetwork(settings: NetworkSettings, folder: string, env: NodeJS.ProcessEnv): NetworkPlan {
  const deployment = loadDeployment(resolve(folder, settings.deployment));
  const where = `network ${deployment.chainId}`;
  if (settings.providers.length === 0) throw new ConfigError(`${where}: no providers. Name those of the committees.`);
  const endpoints = new Map<Address, string>();
  for (const { address, url } of settings.providers) {
    const parsed = parseAddress(address);
    if (!parsed.ok) throw new ConfigError(`${where}: provider ${address}: ${parsed.error}`);
    if (!URL.canParse(url))
      throw new ConfigError(`${where}: provider ${address}: its url cannot be parsed. Correct it.`);
    if (endpoints.has(parsed.value)) throw new ConfigError(`${where}: provider ${address} is named twice. Keep one.`);
    endpoints.set(parsed.value, url.replace(/\/+$/, ""));
  }
  if (settings.rpcUrls.length === 0) throw new ConfigError(`${where}: rpcUrls is empty. Name an RPC endpoint.`);
  const rpcUrls = settings.rpcUrls.map((url, place) => expandRpcUrl(url, `${where}: rpcUrls/${place}`, env));
  const feeds = planFeeds(settings.feeds, deployment.datasets, where);
  const replicas = settings.replicas.map((address, place) => {
    const parsed = parseAddress(address);
    if (!parsed.ok) throw new ConfigError(`${where}: replicas/${place}: ${parsed.error}`);
    if (settings.replicas.findIndex((other) => other.toLowerCase() === address.toLowerCase()) !== place)
      throw new ConfigError(`${where}: replicas names ${address} twice. Keep one.`);
    return parsed.value;
  });
  return { settings, deployment, rpcUrls, endpoints, replicas, feeds };
}
