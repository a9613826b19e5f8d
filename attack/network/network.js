import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { startService } from "@dataset-oracle/devnet/service-process";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { keccak256, parseEther, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { call, postJson } from "../http.js";
import { clientOf } from "./chain-client.js";
import { deployContracts } from "./deploy-contracts.js";
import { publishSpecs } from "./publish-specs.js";
import { startSimulatedInternet } from "./simulated-internet.js";

const CHAIN_ID = 42;
export const PRICE_KEYS = MARKET_PAIRS.map(({ pair }) => `SPOTPX/${pair}`);
const PRELOADS = ["redirect-connections.cjs", "shift-clock.cjs"]
  .map((file) => `--require=${join(import.meta.dirname, file)}`)
  .join(" ");

/**
 * A chain, the contracts, a simulated internet, four providers and an operator. Every process runs as its owner would
 * start it, with the default limits unless an attack says otherwise.
 */
export class Network {
  #folder = mkdtempSync(join(tmpdir(), "attack-"));
  #lasting = [];
  #ofAttack = [];
  #isStarted = false;
  #callers = 0;
  #names = 0;

  /** @param build The root of the repository whose built operator and provider run. */
  constructor(build) {
    this.build = build;
  }

  async start() {
    this.chain = this.own(await startAnvil({ chainId: CHAIN_ID }));
    this.client = clientOf(this.chain.url);
    Object.assign(this, await deployContracts(this.chain.url));
    this.market = this.own(await startMarket({ seed: 42 }));
    this.internet = this.own(await startSimulatedInternet(this.#folder, this.market.url));
    const web = { keyForm: "WEB_ORACLE", keys: [] };
    const datasets = {
      prices: { address: this.prices, kind: "median", keyForm: "SPOT_PRICE", keys: PRICE_KEYS },
      numbers: { address: this.numbers, kind: "median", ...web },
      words: { address: this.words, kind: "majority", ...web },
    };
    const deployment = { chainId: CHAIN_ID, datasets, webOracleRegistry: this.registry };
    writeFileSync(join(this.#folder, "deployment.json"), JSON.stringify(deployment));
    this.providers = await this.startProviders();
    this.operator = await this.startOperator();
    this.#isStarted = true;
  }

  /** Ends what an attack started. */
  async endAttack() {
    const parts = this.#ofAttack.splice(0);
    await Promise.all(parts.map((part) => part.close()));
  }

  async close() {
    await this.endAttack();
    await Promise.all(this.#lasting.splice(0).map((part) => part.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes something at the end of the attack, or of the network if it belongs to no attack. */
  own(part) {
    (this.#isStarted ? this.#ofAttack : this.#lasting).push(part);
    return part;
  }

  /** Starts the committee's four providers. */
  startProviders(settings = {}, options = {}) {
    return Promise.all(PROVIDERS.map((_, index) => this.startProvider(index, settings, options)));
  }

  /**
   * Returns the Web Oracle settings of a provider.
   *
   * @param name The provider's name.
   */
  webOracle(name) {
    return {
      rpcUrls: { [CHAIN_ID]: this.chain.url },
      folder: `${name}-specs`,
      hosts: "any",
      rateLimit: { perSecond: 1_000, burst: 1_000 },
    };
  }

  /**
   * Starts a provider of the committee.
   *
   * @param settings Settings of its configuration.
   * @param options `env`: further environment variables. `name`: its earlier name, to start it again with its files.
   *   `nodeOptions`: further options of Node. `readyPath`: the path that answers once it has started.
   */
  async startProvider(index = 0, settings = {}, options = {}) {
    const { env = {}, name = this.newName("provider"), nodeOptions = "", readyPath } = options;
    const { address, privateKey } = PROVIDERS[index];
    const config = {
      port: await freePort(),
      metricsPort: 0,
      lease: `${name}-lease`,
      deployments: ["deployment.json"],
      webOracle: this.webOracle(name),
      operators: ["127.0.0.1"],
      ...settings,
    };
    const own = { ...this.internet.env, NODE_OPTIONS: `${PRELOADS} ${nodeOptions}`, ...env };
    const service = { program: "provider", name, config, privateKeys: [privateKey], env: own, readyPath };
    return { ...(await this.#startService(service)), index, address, privateKey };
  }

  /**
   * Starts an operator with a sender of its own.
   *
   * @param network Settings of its network.
   * @param settings Settings of its configuration.
   */
  async startOperator(network = {}, settings = {}, { providers = this.providers } = {}) {
    const name = this.newName("operator");
    const privateKey = keccak256(stringToHex(name));
    const sender = privateKeyToAccount(privateKey).address;
    await this.client.setBalance({ address: sender, value: parseEther("100") });
    const own = {
      deployment: "deployment.json",
      rpcUrls: [this.chain.url],
      providers: providers.map(({ address, url }) => ({ address, url })),
      ...network,
    };
    const config = { port: await freePort(), metricsPort: 0, ...settings, networks: [own] };
    const service = { program: "operator", name, config, privateKeys: [privateKey] };
    return { ...(await this.#startService(service)), sender };
  }

  async #startService(options) {
    const folder = this.#folder;
    const service = this.own(await startService({ ...options, folder, build: this.build }));
    await service.ready();
    return { ...service, log: () => readFileSync(service.logFile, "utf8"), folder };
  }

  /** Returns the path of a file that goes with the network. */
  file(kind) {
    return join(this.#folder, this.newName(kind));
  }

  newName(kind) {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  /** Returns addresses on loopback that no caller used before, so that no attack uses up the limits of another. */
  callers(count) {
    return Array.from({ length: count }, () => {
      const number = ++this.#callers;
      return `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    });
  }

  caller() {
    return this.callers(1)[0];
  }

  /** Publishes specs, and returns their hashes. */
  publish(...specs) {
    return publishSpecs(this.client, this.registry, specs);
  }

  /** The hex key of a spec with arguments. */
  key(specHash, ...args) {
    const key = webOracleKey({ specHash, args });
    if (!key.ok) throw new Error(key.error);
    return key.value;
  }

  /** Asks a provider for a report. */
  report(provider, { dataset = this.prices, key, round = Math.floor(Date.now() / 1_000) - 1 }, options = {}) {
    const hex = key.startsWith("0x") ? key : stringToHex(key);
    const body = { network_id: CHAIN_ID, dataset, key: hex, timestamp: round };
    return postJson(`${provider.url}/report`, body, { from: this.caller(), ...options });
  }

  /** Asks a provider for a report of a published spec until it has read the spec: it reads only a few a second. */
  async reportOfSpec(provider, request, options) {
    for (;;) {
      const answer = await this.report(provider, request, options);
      if (answer.json?.code !== "registry_unavailable") return answer;
      await sleep(300);
    }
  }

  /** Asks an operator for an update. */
  update(operator, { dataset = this.prices, key = PRICE_KEYS[1], broadcast = false }, options = {}) {
    const body = { network_id: CHAIN_ID, dataset, key, broadcast };
    return postJson(`${operator.url}/data/request`, body, { from: this.caller(), timeoutMs: 30_000, ...options });
  }

  /** Asks if a service is alive, from an address of its own. */
  live(service, timeoutMs = 10_000) {
    return call(`${service.url}/live`, { from: this.caller(), timeoutMs });
  }
}
