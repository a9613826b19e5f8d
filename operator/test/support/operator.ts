import { setMaxListeners } from "node:events";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address, LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { watchFeeds } from "../../src/alerts/watch-feeds.js";
import { type AppSettings, buildOperatorApp } from "../../src/app.js";
import { type NetworkSettings, OperatorConfig } from "../../src/config.js";
import { planFeeds } from "../../src/feeds/config.js";
import { runFeeds } from "../../src/feeds/feed-loop.js";
import { Metrics } from "../../src/metrics.js";
import { startOperator as startOperatorWithoutHttp } from "../../src/operator.js";
import type { Node } from "../../src/peers/node-list.js";
import type { Clock } from "../../src/process-context.js";
import { watchNodesAndStatements } from "../../src/watch-nodes-and-statements.js";
import type { Chain } from "./chain.js";
import { closeAtEnd } from "./close-at-end.js";
import type { Provider } from "./stub-providers.js";

export interface ServedNetwork {
  readonly chain: Chain;
  readonly datasets: readonly (Address | DeployedDataset)[];
  readonly providers: readonly Provider[];
  readonly settings?: Partial<NetworkSettings>;
  /** The chain's own URL by default. */
  readonly rpcUrls?: readonly string[];
}

/** The limits are high, so that only their own tests reach them. */
const APP_SETTINGS: AppSettings = {
  basePath: "",
  requestsPerMinute: 10_000,
  broadcastsPerMinute: 10_000,
  newKeysPerMinute: 10_000,
  nodeRequestsPerMinute: 10_000,
  maxConnections: 1_000,
  maxConnectionsPerCaller: 1_000,
  trustedProxies: [],
};

export interface OperatorOptions extends Partial<AppSettings> {
  readonly hasSender?: boolean;
  /** A new account by default. */
  readonly account?: LocalAccount;
  readonly alertWebhooks?: readonly string[];
  /** A free one by default. */
  readonly port?: number;
  /** The machine's by default. */
  readonly clock?: Clock;
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
export async function startOperator(served: readonly ServedNetwork[], options: OperatorOptions = {}) {
  const {
    hasSender = true,
    account = newAccount(),
    alertWebhooks = [],
    port = 0,
    clock = Date.now,
    ...changed
  } = options;
  const settings = { ...APP_SETTINGS, ...changed };
  await Promise.all(served.map(({ chain }) => chain.fund(account.address)));
  const log: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => log.push(line) });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const registry = new Registry();
  const metrics = new Metrics(registry);
  const context = { clock, logger, closing: closing.signal, metrics };
  const plans = served.map(planOf);
  const keys = new Map(served.map(({ chain }) => [chain.chainId, { accounts: [account], warnings: [] }]));
  const operator = await startOperatorWithoutHttp(plans, hasSender ? keys : new Map(), context);
  const loops = [runFeeds(operator), watchFeeds(operator, alertWebhooks), watchNodesAndStatements(operator)];
  const app = await buildOperatorApp(operator, settings, registry);
  const base = `${await app.listen({ host: "127.0.0.1", port })}${settings.basePath}`;

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${base}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(25_000),
    });

  return {
    account,
    base,
    log,
    registry,
    networks: operator.networks,
    recovered: operator.recovered,
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
      await Promise.all([app.close(), ...loops]);
    }),
  };
}

const newAccount = () => privateKeyToAccount(generatePrivateKey());

function planOf({ chain, datasets, providers, settings, rpcUrls }: ServedNetwork) {
  const deployed = datasets.map((dataset): DeployedDataset => {
    if (typeof dataset !== "string") return dataset;
    return { name: "test", address: dataset, kind: "median", keyForm: "SPOT_PRICE", keys: [spotPriceKey("ETH-USD")] };
  });
  return {
    settings: {
      ...(Value.Create(OperatorConfig.properties.networks.items) as NetworkSettings),
      providerTimeoutMs: 3_000,
      graceMs: 200,
      rpcTimeoutMs: 5_000,
      rpcPollMs: 200,
      gasPercentPerCaller: 100,
      ...settings,
    },
    deployment: { chainId: chain.chainId, datasets: deployed },
    rpcUrls: rpcUrls ?? [chain.url],
    peers: (settings?.peers ?? []) as readonly Node[],
    committeeDirectory: (settings?.committeeDirectory ?? null) as Address | null,
    feeds: planFeeds(settings?.feeds ?? [], deployed, "test"),
    endpoints: new Map(providers.map(({ address, url }) => [address, url])),
  };
}
