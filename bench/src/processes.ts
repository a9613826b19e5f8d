import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, deriveAccount, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { EXCHANGE_ORIGINS, EXCHANGES, marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Service, type Settings, startOperator, startProvider } from "@dataset-oracle/devnet/network-services";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import { TestNetwork } from "@dataset-oracle/devnet/test-support/test-network";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address } from "viem";
import { SPECS, startApi, webOracle } from "./web-oracle.js";

/** Sources that return all pairs in one answer, because these benchmarks do not measure how sources are read. */
const FEW_EXCHANGES = ["kraken", "bitfinex"];
/** The accounts from which the operator sends in its benchmarks. */
const SENDERS = [deriveAccount(1), deriveAccount(2), deriveAccount(3), deriveAccount(4)] as const;
/** Too high to reject any request. The limits and budgets are still counted. */
const [ENOUGH_REQUESTS, ENOUGH_GAS] = [1_000_000_000, 1_000_000_000_000];
/** A block has space for every transaction. */
const CHAIN = { gasLimit: 1_000_000_000 };

/** A provider of the committee. */
export interface CommitteeMember {
  readonly address: Address;
  readonly url: string;
}

/** What an operator serves: a dataset on a chain, its keys and its committee. */
export interface BenchNetwork {
  readonly client: TestChainClient;
  readonly rpcUrl: string;
  readonly dataset: Address;
  /** As text. */
  readonly keys: readonly string[];
  readonly providers: readonly CommitteeMember[];
}

/** A server that answers data requests, and the metrics of its process. */
export interface Server {
  readonly requestUrl: string;
  readonly metricsUrl: string;
}

/** What the operator's benchmarks measure: the operator, beside the naive implementation. */
export interface Environment extends BenchNetwork {
  readonly operator: Server;
  readonly naive: Server;
}

/** A provider and an operator with their default limits. */
export interface LimitedServices extends Pick<BenchNetwork, "dataset" | "keys"> {
  readonly webDataset: Address;
  readonly provider: ServiceProcess;
  readonly operator: ServiceProcess;
}

/** What a provider reads. */
interface Sources {
  readonly market: MarketMessage;
  /** The exchanges of the market; all by default. */
  readonly exchanges?: readonly string[];
  readonly minSources: number;
  /** Further origins that are on this machine. */
  readonly redirects?: Readonly<Record<string, string>>;
}

/** A provider that runs, and where its metrics are. */
interface MeasuredProvider extends Service {
  readonly metricsUrl: string;
}

/**
 * The processes of the benchmarks: a chain, a market, four providers, the operator, and the baselines that it is
 * compared with.
 */
export class Processes extends TestNetwork {
  /**
   * Starts everything except the fixed-answer server.
   *
   * @param keys The number of keys that the providers serve.
   */
  async start(keys: number): Promise<Environment> {
    const [network] = await this.#startNetwork(keys);
    const operator = await this.startOperator(network, SENDERS);
    const { rpcUrl, dataset, providers } = network;
    const naive = await this.#startBaseline("naive-operator.js", { rpcUrl, dataset, toleranceBps: 100, providers });
    return { ...network, operator, naive };
  }

  /**
   * Starts the services with their default limits for one caller, counted by the X-Forwarded-For of this machine. Those
   * for all callers together are higher, so that many can be measured. The providers also serve a dataset of the Web
   * Oracle with one published spec.
   */
  async startLimited(keys: number): Promise<LimitedServices> {
    const api = this.own(await startApi());
    const [network, services] = await this.#startNetwork(keys, api.url);
    const settings = { metricsPort: await freePort(), trustedProxies: ["127.0.0.1"] };
    const operator = await this.#run(network.providers, [SENDERS[0]], settings, {
      // One caller may use as much as by default: 25% of 30 and of 10 million.
      ...{ gasPercentPerCaller: 1, gasPerHour: 750_000_000, gasPerHourForNewKeys: 250_000_000 },
    });
    const { dataset, keys: names } = network;
    return { dataset, webDataset: this.numbers, keys: names, provider: services[0] as Service, operator };
  }

  /**
   * Starts what the operator needs: a chain, a market and four providers.
   *
   * @param apiUrl The API of the Web Oracle's spec; without it, the providers do not serve the Web Oracle.
   */
  async #startNetwork(count: number, apiUrl?: string): Promise<[BenchNetwork, Service[]]> {
    await this.startChain(CHAIN);
    const market = await this.startMarket(count);
    const keys = market.pairs.map((pair) => `SPOTPX/${pair}`);
    if (apiUrl !== undefined) {
      await this.deployWebOracle();
      await this.publish(...SPECS);
    }
    this.writeDeployment(keys);
    const services = await Promise.all(
      PROVIDERS.map((account, i) => {
        const name = `provider-${i}`;
        const { redirects, settings } = webOracle(apiUrl, this.place, name);
        const sources = { market, exchanges: FEW_EXCHANGES, minSources: 2, redirects };
        return this.startProvider(account, name, sources, settings);
      }),
    );
    const providers = services.map(({ address, url }) => ({ address, url }));
    return [{ client: this.client, rpcUrl: this.chain.url, dataset: this.prices, keys, providers }, services];
  }

  /**
   * Starts what an operator needs to keep feeds fresh: a chain, and a process that stands in for all providers.
   *
   * @param keys The number of keys.
   * @param members The number of members of the committee.
   */
  async startStubbedNetwork({ keys: count, members: size }: { keys: number; members: number }): Promise<BenchNetwork> {
    const stub = this.#fork("stub-providers.js", [String(size)]);
    const [providers] = (await once(stub, "message")) as [CommitteeMember[]];
    await this.startChain(
      CHAIN,
      providers.map(({ address }) => address),
    );
    const keys = Array.from({ length: count }, (_, i) => `SPOTPX/K${i}-USD`);
    this.writeDeployment(keys);
    return { client: this.client, rpcUrl: this.chain.url, dataset: this.prices, keys, providers };
  }

  /** Starts a Fastify server that always sends this answer. */
  startFixedAnswerServer(answer: object): Promise<Server> {
    return this.#startBaseline("fixed-answer-server.js", answer);
  }

  /** Starts a simulated market with this number of pairs. */
  async startMarket(pairs: number): Promise<MarketMessage> {
    const [message] = await once(this.#fork("market-process.js", [String(pairs)]), "message");
    return message;
  }

  /** Starts a provider that reads the shipped source formats, but with the benchmark's pairs. */
  async startProvider(
    account: Account,
    name: string,
    { market, exchanges = EXCHANGES, minSources, redirects: more = {} }: Sources,
    settings: Settings = {},
  ): Promise<MeasuredProvider> {
    const shipped = join(ROOT, "provider/sources");
    mkdirSync(join(this.folder, name));
    for (const exchange of exchanges) {
      const spec = JSON.parse(readFileSync(join(shipped, `${exchange}.json`), "utf8"));
      const pairs = spec.convert === undefined ? [...market.pairs, "USDT-USD"] : market.pairs;
      const source = { ...spec, name: `bench-${exchange}`, pairs };
      writeFileSync(join(this.folder, name, `${exchange}.json`), JSON.stringify(source));
    }
    const redirects = marketRedirects(market.url);
    const origins = exchanges.map((exchange) => EXCHANGE_ORIGINS[exchange] ?? "");
    const metricsPort = await freePort();
    const config = {
      metricsPort,
      sources: [name],
      excludedSources: readdirSync(shipped).map((file) => file.replace(".json", "")),
      redirectedOrigins: { ...more, ...Object.fromEntries(origins.map((origin) => [origin, redirects[origin]])) },
      minSources,
      operatorRequestsPerMinute: 10_000_000,
      webOracle: undefined,
      ...settings,
    };
    const provider = await startProvider(this.place, account, { name }, config);
    return { ...provider, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  }

  /**
   * Starts the operator.
   *
   * @param network Settings of the network besides those that every benchmark needs.
   */
  async startOperator({ providers }: BenchNetwork, senders: FundedSenders, network: Settings = {}): Promise<Server> {
    const metricsPort = await freePort();
    const settings = {
      metricsPort,
      requestsPerMinute: ENOUGH_REQUESTS,
      broadcastsPerMinute: ENOUGH_REQUESTS,
      newKeysPerMinute: ENOUGH_REQUESTS,
      maxConnectionsPerCaller: 1_000,
    };
    const { url } = await this.#run(providers, senders, settings, {
      gasPerHour: ENOUGH_GAS,
      gasPerHourForNewKeys: ENOUGH_GAS,
      gasPerHourForFeeds: ENOUGH_GAS,
      gasPercentPerCaller: 100,
      maxPendingPerSender: 1_000,
      ...network,
    });
    return { requestUrl: `${url}/data/request`, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  }

  #run(
    providers: readonly CommitteeMember[],
    senders: FundedSenders,
    settings: Settings,
    network: Settings,
  ): Promise<Service> {
    // All processes share one machine, so timeouts would only measure how busy it is.
    const own = { providers, providerTimeoutMs: 60_000, ...network };
    return startOperator(this.place, senders, { name: "operator" }, own, settings);
  }

  async #startBaseline(file: string, options: object): Promise<Server> {
    const child = this.#fork(join("operator", file), []);
    child.send(options);
    const [server] = (await once(child, "message")) as [Server];
    return server;
  }

  #fork(file: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.folder, "forked.log"), "a");
    const child = fork(join(import.meta.dirname, file), args, { stdio: ["ignore", log, "inherit", "ipc"] });
    const exited = once(child, "exit");
    this.own({
      close: async () => {
        child.kill("SIGKILL");
        await exited;
      },
    });
    return child;
  }
}

type FundedSenders = readonly [Account, ...Account[]];

/** What the market's process sends. */
export interface MarketMessage {
  readonly url: string;
  readonly pairs: readonly string[];
}
