import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deriveAccount, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import type { Address } from "viem";
import { type ChainClient, startChain } from "./start-chain.js";
import { startProvider } from "./start-provider.js";
import { deployWebOracle, startApi, type WebOracle, webOracle } from "./web-oracle.js";

/** Sources that return all pairs in one answer, because these benchmarks do not measure how sources are read. */
const EXCHANGES = ["kraken", "bitfinex"];
/** The indices of the accounts from which the operator sends in its benchmarks. */
const SENDERS = [1, 2, 3, 4];
/** Too high to reject any request. The limits and budgets are still counted. */
const [ENOUGH_REQUESTS, ENOUGH_GAS] = [1_000_000_000, 1_000_000_000_000];

/** A provider of the committee. */
export interface Provider {
  readonly address: Address;
  readonly url: string;
}

/** What an operator serves: a dataset on a chain, its keys and its committee. */
export interface Network {
  readonly client: ChainClient;
  readonly rpcUrl: string;
  readonly dataset: Address;
  /** As text. */
  readonly keys: readonly string[];
  readonly providers: readonly Provider[];
}

/** A server that answers data requests, and the metrics of its process. */
export interface Server {
  readonly requestUrl: string;
  readonly metricsUrl: string;
}

/** What the operator's benchmarks measure: the operator, beside the naive implementation. */
export interface Environment extends Network {
  readonly operator: Server;
  readonly naive: Server;
}

/** A provider and an operator with their default limits. */
export interface LimitedServices extends Pick<Network, "dataset" | "keys"> {
  readonly webDataset: Address;
  readonly provider: ServiceProcess;
  readonly operator: ServiceProcess;
}

interface LimitedNetwork extends Network {
  readonly services: readonly ServiceProcess[];
  readonly webDataset: Address | undefined;
}

interface OperatorOptions {
  /** The indices of the accounts from which it sends. */
  readonly senders: readonly number[];
  /** Settings of the network besides those that every benchmark needs. */
  readonly network?: object;
}

/** Something that ends with the benchmark. */
interface Part {
  close(): Promise<unknown>;
}

/**
 * The processes of the benchmarks: a chain, a market, four providers, the operator, and the baselines that it is
 * compared with.
 */
export class Processes {
  readonly #parts: Part[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "bench-"));

  /**
   * Starts everything except the fixed-answer server.
   *
   * @param keys The number of keys that the providers serve.
   */
  async start(keys: number): Promise<Environment> {
    const network = await this.#startNetwork(keys);
    const operator = await this.startOperator(network, { senders: SENDERS });
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
    const api = await startApi();
    this.#own(api);
    const network = await this.#startNetwork(keys, api.url);
    const { rpcUrl, providers, dataset } = network;
    const config = {
      port: await freePort(),
      metricsPort: await freePort(),
      trustedProxies: ["127.0.0.1"],
      networks: [
        {
          deployment: "deployment.json",
          rpcUrls: [rpcUrl],
          providers: providers.map(({ address, url }) => ({ address, url })),
          providerTimeoutMs: 60_000,
          // One caller may use as much as by default: 25% of 30 and of 10 million.
          ...{ gasPercentPerCaller: 1, gasPerHour: 750_000_000, gasPerHourForNewKeys: 250_000_000 },
        },
      ],
    };
    const privateKeys = [deriveAccount(1).privateKey];
    const folder = this.#folder;
    const operator = this.#own(
      await startService({ program: "operator", name: "operator", config, privateKeys, folder }),
    );
    await operator.ready();
    return {
      dataset,
      webDataset: network.webDataset as Address,
      keys: network.keys,
      provider: network.services[0] as ServiceProcess,
      operator,
    };
  }

  /**
   * Starts what the operator needs: a chain, a market and four providers.
   *
   * @param apiUrl The API of the Web Oracle's spec; without it, the providers do not serve the Web Oracle.
   */
  async #startNetwork(keys: number, apiUrl?: string): Promise<LimitedNetwork> {
    const { anvil, client, dataset } = await startChain();
    this.#own(anvil);
    const market = this.#fork(join(import.meta.dirname, "market-process.js"), [String(keys)]);
    const [{ url: marketUrl, pairs }] = (await once(market, "message")) as [MarketMessage];
    const names = pairs.map((pair) => `SPOTPX/${pair}`);
    const web = apiUrl === undefined ? null : await deployWebOracle(anvil.url);
    this.#writeDeployment(dataset, names, web);
    const services: ServiceProcess[] = [];
    const providers = await Promise.all(
      PROVIDERS.map(async ({ address, privateKey }, i) => {
        const options = { folder: this.#folder, name: `provider-${i}`, privateKey, marketUrl, pairs };
        const { redirects, settings } = webOracle(apiUrl, anvil.url, `provider-${i}-specs`);
        const provider = this.#own(
          await startProvider({ ...options, exchanges: EXCHANGES, minSources: 2, redirects, settings }),
        );
        services[i] = provider;
        await provider.ready();
        return { address, url: provider.url };
      }),
    );
    return { client, rpcUrl: anvil.url, dataset, keys: names, providers, services, webDataset: web?.dataset };
  }

  /**
   * Starts what an operator needs to keep feeds fresh: a chain, and a process that stands in for all providers.
   *
   * @param keys The number of keys.
   * @param members The number of members of the committee.
   */
  async startStubbedNetwork({ keys: count, members: size }: { keys: number; members: number }): Promise<Network> {
    const stub = this.#fork(join(import.meta.dirname, "stub-providers.js"), [String(size)]);
    const [providers] = (await once(stub, "message")) as [Provider[]];
    const members = providers.map(({ address }) => address);
    const { anvil, client, dataset } = await startChain(members);
    this.#own(anvil);
    const keys = Array.from({ length: count }, (_, i) => `SPOTPX/K${i}-USD`);
    this.#writeDeployment(dataset, keys);
    return { client, rpcUrl: anvil.url, dataset, keys, providers };
  }

  #writeDeployment(address: Address, keys: readonly string[], oracle: WebOracle | null = null) {
    const bench = { address, kind: "median", keyForm: "SPOT_PRICE", keys };
    const web = { address: oracle?.dataset, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
    const deployment =
      oracle === null
        ? { chainId: 42, datasets: { bench } }
        : { chainId: 42, webOracleRegistry: oracle.registry, datasets: { bench, web } };
    writeFileSync(join(this.#folder, "deployment.json"), JSON.stringify(deployment));
  }

  /** Starts a Fastify server that always sends this answer. */
  startFixedAnswerServer(answer: object): Promise<Server> {
    return this.#startBaseline("fixed-answer-server.js", answer);
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the operator. */
  async startOperator({ rpcUrl, providers }: Network, { senders, network = {} }: OperatorOptions): Promise<Server> {
    const metricsPort = await freePort();
    const config = {
      port: await freePort(),
      metricsPort,
      requestsPerMinute: ENOUGH_REQUESTS,
      broadcastsPerMinute: ENOUGH_REQUESTS,
      newKeysPerMinute: ENOUGH_REQUESTS,
      maxConnectionsPerCaller: 1_000,
      networks: [
        {
          deployment: "deployment.json",
          rpcUrls: [rpcUrl],
          providers: providers.map(({ address, url }) => ({ address, url })),
          gasPerHour: ENOUGH_GAS,
          gasPerHourForNewKeys: ENOUGH_GAS,
          gasPerHourForFeeds: ENOUGH_GAS,
          gasPercentPerCaller: 100,
          maxPendingPerSender: 1_000,
          // All processes share one machine, so timeouts would only measure how busy it is.
          providerTimeoutMs: 60_000,
          ...network,
        },
      ],
    };
    const privateKeys = senders.map((index) => deriveAccount(index).privateKey);
    const operator = this.#own(
      await startService({ program: "operator", name: "operator", config, privateKeys, folder: this.#folder }),
    );
    await operator.ready();
    return {
      requestUrl: `${operator.url}/data/request`,
      metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    };
  }

  async #startBaseline(file: string, options: object): Promise<Server> {
    const child = this.#fork(join(import.meta.dirname, "operator", file), []);
    child.send(options);
    const [server] = (await once(child, "message")) as [Server];
    return server;
  }

  #fork(path: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, "forked.log"), "a");
    const child = fork(path, args, { stdio: ["ignore", log, "inherit", "ipc"] });
    const exited = once(child, "exit");
    const close = async () => {
      child.kill("SIGKILL");
      await exited;
    };
    this.#own({ close });
    return child;
  }

  #own<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }
}

/** What the market's process sends. */
export interface MarketMessage {
  readonly url: string;
  readonly pairs: readonly string[];
}
