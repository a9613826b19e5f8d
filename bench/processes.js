import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deriveAccount, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { startService } from "@dataset-oracle/devnet/service-process";
import { startChain } from "./start-chain.js";
import { startProvider } from "./start-provider.js";

/** Sources that return all pairs in one answer, because these benchmarks do not measure how sources are read. */
const EXCHANGES = ["kraken", "bitfinex"];
/** The indices of the accounts from which the operator sends in its benchmarks. */
const SENDERS = [1, 2, 3, 4];
/** Too high to reject any request. The limits and budgets are still counted. */
const ENOUGH = 1_000_000_000_000;

/**
 * The processes of the benchmarks: a chain, a market, four providers, the operator, and the baselines that it is
 * compared with.
 */
export class Processes {
  #parts = [];
  #folder = mkdtempSync(join(tmpdir(), "bench-"));

  /**
   * Starts everything except the fixed-answer server.
   *
   * @param keys The number of keys that the providers serve.
   */
  async start(keys) {
    const network = await this.startNetwork({ keys });
    const operator = await this.startOperator(network, { senders: SENDERS });
    const { rpcUrl, dataset, providers } = network;
    const naive = await this.#startBaseline("naive-operator.js", { rpcUrl, dataset, toleranceBps: 100, providers });
    return { ...network, operator, naive };
  }

  /**
   * Starts what operators need: a chain, a market and four providers.
   *
   * @param keys The number of keys of each dataset.
   * @param datasets The number of datasets; the first is also `dataset`.
   */
  async startNetwork({ keys, datasets: count = 1 }) {
    const { anvil, chain, client, datasets } = await startChain({ datasets: count });
    this.#own(anvil);
    const market = this.#fork(join(import.meta.dirname, "market-process.js"), [String(keys)]);
    const [{ url: marketUrl, pairs }] = await once(market, "message");
    const names = pairs.map((pair) => `SPOTPX/${pair}`);
    this.#writeDeployment(datasets, names);
    const providers = await Promise.all(
      PROVIDERS.map(async ({ address, privateKey }, i) => {
        const options = { folder: this.#folder, name: `provider-${i}`, privateKey, marketUrl, pairs };
        const provider = this.#own(await startProvider({ ...options, exchanges: EXCHANGES, minSources: 2 }));
        await provider.ready();
        return { address, url: provider.url, metricsUrl: provider.metricsUrl };
      }),
    );
    const [dataset] = datasets;
    return { chain, client, rpcUrl: anvil.url, dataset, datasets, keys: names, providers };
  }

  /**
   * Starts what an operator needs to keep feeds fresh: a chain, and a process that stands in for all providers.
   *
   * @param keys The number of keys.
   * @param members The number of members of the committee.
   */
  async startStubbedNetwork({ keys: count, members: size }) {
    const stub = this.#fork(join(import.meta.dirname, "stub-providers.js"), [String(size)]);
    const [providers] = await once(stub, "message");
    const members = providers.map(({ address }) => address);
    const { anvil, client, datasets } = await startChain({ datasets: 1, members });
    this.#own(anvil);
    const keys = Array.from({ length: count }, (_, i) => `SPOTPX/K${i}-USD`);
    this.#writeDeployment(datasets, keys);
    return { client, rpcUrl: anvil.url, dataset: datasets[0], keys, providers };
  }

  #writeDeployment(datasets, keys) {
    const named = datasets.map((address, i) => {
      return [`bench${i}`, { address, kind: "median", keyForm: "SPOT_PRICE", keys }];
    });
    const deployment = { chainId: 42, datasets: Object.fromEntries(named) };
    writeFileSync(join(this.#folder, "deployment.json"), JSON.stringify(deployment));
  }

  /** Starts a Fastify server that always sends this answer. */
  startFixedAnswerServer(answer) {
    return this.#startBaseline("fixed-answer-server.js", answer);
  }

  async close() {
    await Promise.all(this.#parts.map((part) => part.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Starts an operator.
   *
   * @param senders The indices of the accounts from which it sends.
   * @param port A free one by default.
   * @param network Settings of the network besides those that every benchmark needs.
   */
  async startOperator({ rpcUrl, providers }, { name = "operator", senders, port, network = {} }) {
    const metricsPort = await freePort();
    const config = {
      port: port ?? (await freePort()),
      metricsPort,
      requestsPerMinute: ENOUGH,
      broadcastsPerMinute: ENOUGH,
      newKeysPerMinute: ENOUGH,
      maxConnectionsPerCaller: 1_000,
      networks: [
        {
          deployment: "deployment.json",
          rpcUrls: [rpcUrl],
          providers: providers.map(({ address, url }) => ({ address, url })),
          gasPerHour: ENOUGH,
          gasPerHourForNewKeys: ENOUGH,
          gasPerHourForFeeds: ENOUGH,
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
      await startService({ program: "operator", name, config, privateKeys, folder: this.#folder }),
    );
    await operator.ready();
    return {
      requestUrl: `${operator.url}/data/request`,
      metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
      close: () => operator.close(),
    };
  }

  async #startBaseline(file, options) {
    const child = this.#fork(join(import.meta.dirname, "operator", file), []);
    child.send(options);
    const [message] = await once(child, "message");
    return message;
  }

  #fork(path, args) {
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

  #own(part) {
    this.#parts.push(part);
    return part;
  }
}
