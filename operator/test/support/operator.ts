import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import type { App } from "@dataset-oracle/service/http-server/app";
import { type Clock, createContext, SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address, LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { vi } from "vitest";
import { buildOperatorApp, type OperatorAppSettings } from "../../src/app.js";
import { type NetworkPlan, type NetworkSettings, OperatorConfig } from "../../src/config.js";
import { Operator } from "../../src/operator.js";
import { planFeeds } from "../../src/plugins/feeds/settings.js";
import type { Role } from "../../src/schedule/cadence.js";
import type { TestChain } from "./chain.js";
import type { StubProvider } from "./stub-providers.js";

export interface NetworkSetup {
  readonly chain: TestChain;
  readonly datasets: readonly (Address | DeployedDataset)[];
  readonly providers: readonly StubProvider[];
  readonly settings?: Partial<NetworkSettings>;
  /** The chain's own URL by default. */
  readonly rpcUrls?: readonly string[];
}

/** The limits are high, so that only their own tests reach them. */
const APP_SETTINGS: OperatorAppSettings = {
  basePath: "",
  requestsPerMinute: 10_000,
  broadcastsPerMinute: 10_000,
  newKeysPerMinute: 10_000,
  maxConnections: 1_000,
  maxConnectionsPerCaller: 1_000,
  trustedProxies: [],
  plugins: ["feeds", "gateway", "page", "watchdog"],
};

export interface OperatorOptions extends Partial<OperatorAppSettings> {
  readonly hasSender?: boolean;
  /** A new account by default. */
  readonly account?: LocalAccount;
  /** The machine's by default. */
  readonly clock?: Clock;
  /** Does not wait until all networks are served, which a busy machine begins without. */
  readonly mayLackNetworks?: boolean;
  /** Called with the service before it listens, to add a plugin with settings that the configuration does not have. */
  readonly configure?: (app: App) => unknown;
}

export interface AnsweredProblem extends Problem {
  readonly http: number;
  readonly headers: Headers;
  readonly errors?: { readonly property: string; readonly problem: string }[];
  readonly served_network_ids?: number[];
  readonly failures?: { readonly provider: Address; readonly host: string; readonly reason: string }[];
  readonly error?: string;
}

export type RunningOperator = Awaited<ReturnType<typeof startOperator>>;

/** An operator in this process that really listens, with an account of its own. */
export async function startOperator(served: readonly NetworkSetup[], options: OperatorOptions = {}) {
  const {
    hasSender = true,
    account = newAccount(),
    clock = SYSTEM_CLOCK,
    mayLackNetworks,
    configure,
    ...changed
  } = options;
  const settings = { ...APP_SETTINGS, ...changed };
  await Promise.all(served.map(({ chain }) => chain.fund(account.address)));
  const log: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => log.push(line) });
  const closing = new AbortController();
  const registry = new Registry();
  const context = { ...createContext(logger, closing.signal, registry), clock };
  const plans = served.map(planOf);
  const keys = new Map(served.map(({ chain }) => [chain.chainId, { accounts: [account], warnings: [] }]));
  const operator = await Operator.connect(plans, hasSender ? keys : new Map(), context);
  const app = await buildOperatorApp(operator, plans, settings);
  await configure?.(app);
  const base = `${await app.listen({ host: "127.0.0.1", port: 0 })}${settings.basePath}`;
  if (!mayLackNetworks) await vi.waitUntil(() => operator.networks.size === served.length, { timeout: 120_000 });

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${base}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  return {
    account,
    base,
    log,
    registry,
    networks: operator.networks,
    /** Resolves when every transaction queue has looked for pending transactions of an earlier process. */
    recovered: Promise.all(
      [...operator.networks.values()].flatMap(({ senders }) => senders.queues.map((q) => q.start())),
    ),
    post,
    /** Sends a request that must be answered with 200. */
    async ask(body: unknown, headers?: Record<string, string>): Promise<DataAnswer> {
      const response = await post(body, headers);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return (await response.json()) as DataAnswer;
    },
    /** Sends a request that must be answered with a problem. */
    async askForProblem(body: unknown, headers?: Record<string, string>): Promise<AnsweredProblem> {
      const response = await post(body, headers);
      const problem = (await response.json()) as Problem;
      const type = response.headers.get("content-type");
      if (type !== "application/problem+json")
        throw new Error(`${response.status} ${type}: ${JSON.stringify(problem)}`);
      return { ...problem, http: response.status, headers: response.headers };
    },
    close: closeAtEnd(async () => {
      closing.abort();
      await app.close();
    }),
  };
}

const newAccount = () => privateKeyToAccount(generatePrivateKey());

function planOf({ chain, datasets, providers, settings: given, rpcUrls }: NetworkSetup): NetworkPlan {
  const deployed = datasets.map((dataset): DeployedDataset => {
    if (typeof dataset !== "string") return dataset;
    return { name: "test", address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [spotPriceKey("ETH-USD")] };
  });
  const settings = {
    ...(Value.Create(OperatorConfig.properties.networks.items) as NetworkSettings),
    // Longer than a healthy provider or endpoint takes on a busy machine.
    ...{ providerTimeoutMs: 30_000, rpcTimeoutMs: 30_000 },
    ...{ graceMs: 200, rpcPollMs: 200 },
    gasPercentPerCaller: 100,
    ...given,
  };
  const { sender, members, stageMs } = settings;
  const standing = { role: sender as Role, members: (members ?? null) as readonly Address[] | null, stageMs };
  const feeds = planFeeds(settings, standing, deployed, "test");
  return {
    ...{ chainId: chain.chainId, settings, standing, feeds },
    datasets: deployed,
    contracts: {},
    requireFit: () => {},
    rpcUrls: rpcUrls ?? [chain.url],
    directory: (settings.committeeDirectory ?? null) as Address | null,
    providerUrls: new Map(providers.map(({ address, url }) => [address, url])),
  };
}
