import { dirname } from "node:path";
import { strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { requireReachablePort } from "@dataset-oracle/service/config/blocked-ports";
import type { DeployedContracts } from "@dataset-oracle/service/config/deployment";
import { loadConfig } from "@dataset-oracle/service/config/load-config";
import { range } from "@dataset-oracle/service/config/range";
import { serverSettings } from "@dataset-oracle/service/http-server/serve";
import { type Static, Type } from "@sinclair/typebox";
import type { Address } from "viem";
import { networkSettings, planCore, requireDistinct } from "./network-settings.js";
import { feedsSettings, planFeeds } from "./plugins/feeds/settings.js";
import { pageSettings } from "./plugins/page/settings.js";
import type { ScheduledKey } from "./schedule/transmission-schedule.js";
import type { CorePlan, KnownDataset } from "./served-network.js";

const NetworkSettings = Type.Object({ ...networkSettings, ...feedsSettings, ...pageSettings }, strict);
export type NetworkSettings = Static<typeof NetworkSettings>;

/** What can run beside the core. */
export const PLUGINS = ["feeds", "gateway", "page", "watchdog"] as const;
export type PluginName = (typeof PLUGINS)[number];

/** The operator's configuration file. */
export const OperatorConfig = Type.Object(
  {
    // 9464 is the provider's: a data provider with a node runs both programs on one machine.
    ...serverSettings(8080, 9_465),
    basePath: Type.String({
      pattern: "^(/[A-Za-z0-9._~-]+)*$",
      maxLength: 256,
      default: "",
      description: "The path of the base URL. With /oracle, requests go to /oracle/data/request.",
    }),
    logLevel: Type.Union(
      ["fatal", "error", "warn", "info", "debug", "silent"].map((level) => Type.Literal(level)),
      { default: "info", description: "The minimum severity of the log lines to write." },
    ),
    requestsPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 60),
      description: "The maximum number of requests per minute and caller.",
    }),
    broadcastsPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 20),
      description: 'The maximum number of requests with "broadcast": true per minute and caller. Each can cost gas.',
    }),
    newKeysPerMinute: Type.Integer({
      ...range(1, 1_000_000_000, 20),
      description:
        "The maximum number of requests per minute and caller for keys that are neither stored, nor in a feed, nor in the " +
        "deployment file. All callers together may make ten times as many.",
    }),
    plugins: Type.Array(Type.Union(PLUGINS.map((name) => Type.Literal(name))), {
      default: [...PLUGINS],
      uniqueItems: true,
      description: "What runs beside the core, which answers data requests. By default everything.",
    }),
    networks: Type.Array(NetworkSettings, { minItems: 1, description: "The networks served." }),
  },
  strict,
);
export type OperatorConfig = Static<typeof OperatorConfig>;

/** One network's settings, with the files and variables that they name already read. */
export interface NetworkPlan extends CorePlan {
  readonly settings: NetworkSettings;
  /** By dataset; all keys distinct. */
  readonly feeds: ReadonlyMap<Address, readonly ScheduledKey[]>;
}

export interface OperatorPlan {
  readonly config: OperatorConfig;
  readonly networks: readonly NetworkPlan[];
}

/**
 * Reads the configuration file and the deployment files it names. It connects to nothing, except to read the chain ids
 * of networks that have neither such a file nor `networkId`.
 *
 * @throws ConfigError that says what to fix.
 */
export async function loadOperatorConfig(path: string, env: NodeJS.ProcessEnv): Promise<OperatorPlan> {
  const config = loadConfig(path, OperatorConfig);
  requireReachablePort(`${path}: port`, config.port);
  const networks = await Promise.all(
    config.networks.map((settings, index) => planNetwork(settings, `${path}: networks/${index}`, dirname(path), env)),
  );
  requireDistinct(
    networks.map(({ chainId }) => chainId),
    `${path}: networks`,
  );
  return { config, networks };
}

async function planNetwork(
  settings: NetworkSettings,
  at: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<NetworkPlan> {
  const core = await planCore(settings, at, folder, env);
  const { chainId, datasets, contracts, standing } = core;
  const feedsOf = (known: readonly KnownDataset[]) => planFeeds(settings, standing, known, `network ${chainId}`);
  const requireFit = (known: readonly KnownDataset[], found: DeployedContracts) => {
    core.requireFit(known, found);
    feedsOf(known);
  };
  if (contracts !== null) requireFit(datasets, contracts);
  return { ...core, settings, feeds: feedsOf(datasets), requireFit };
}
