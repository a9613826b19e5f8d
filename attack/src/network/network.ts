import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceOptions, type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, keccak256, parseEther, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Answer, type CallOptions, call, type JsonAnswer, postJson } from "../http.js";
import { type ChainClient, clientOf } from "./chain-client.js";
import { deployContracts } from "./deploy-contracts.js";
import { publishSpecs } from "./publish-specs.js";
import { type SimulatedInternet, startSimulatedInternet } from "./simulated-internet.js";

const CHAIN_ID = 42;
export const PRICE_KEYS: readonly string[] = MARKET_PAIRS.map(({ pair }) => `SPOTPX/${pair}`);

/** Returns one of the price keys; the numbers go round. */
export const priceKey = (number: number): string => PRICE_KEYS[number % PRICE_KEYS.length] as string;

const PRELOADS = ["redirect-connections.cjs", "shift-clock.cjs"]
  .map((file) => `--require=${join(import.meta.dirname, file)}`)
  .join(" ");

/** A provider or an operator that runs. */
export interface Service extends ServiceProcess {
  /** Reads what it has logged. */
  log(): string;
  /** The folder of all files. */
  readonly folder: string;
}

export interface Provider extends Service {
  /** In the committee. */
  readonly index: number;
  readonly address: Address;
  readonly privateKey: Hex;
}

export interface Operator extends Service {
  /** The account that sends its transactions. */
  readonly sender: Address;
}

export type Committee = readonly [Provider, Provider, Provider, Provider];

/** Settings of a configuration file. */
type Settings = Readonly<Record<string, unknown>>;

interface ProviderOptions {
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its earlier name, to start it again with its files. */
  readonly name?: string;
  /** Further options of Node. */
  readonly nodeOptions?: string;
  /** The path that answers once it has started. */
  readonly readyPath?: string;
}

interface ReportRequest {
  readonly dataset?: Address;
  /** Text, or hex after 0x. */
  readonly key: string;
  readonly round?: number;
}

interface UpdateRequest {
  readonly dataset?: Address;
  readonly key?: string;
  readonly broadcast?: boolean;
}

/** Something that ends with the attack or the network. */
interface Part {
  close(): Promise<unknown>;
}

/**
 * A chain, the contracts, a simulated internet, four providers and an operator. Every process runs as its owner would
 * start it, with the default limits unless an attack says otherwise.
 */
export class Network {
  readonly #folder = mkdtempSync(join(tmpdir(), "attack-"));
  readonly #lasting: Part[] = [];
  readonly #ofAttack: Part[] = [];
  #isStarted = false;
  #callers = 0;
  #names = 0;

  chain!: Anvil;
  client!: ChainClient;
  /** A dataset of prices. */
  prices!: Address;
  /** The Web Oracle's datasets of numbers and of words. */
  numbers!: Address;
  words!: Address;
  registry!: Address;
  market!: Market;
  internet!: SimulatedInternet;
  /** The committee. */
  providers!: Committee;
  operator!: Operator;

  /** @param build The root of the repository whose built operator and provider run. */
  constructor(readonly build: string) {}

  async start(): Promise<void> {
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
  async endAttack(): Promise<void> {
    const parts = this.#ofAttack.splice(0);
    await Promise.all(parts.map((part) => part.close()));
  }

  async close(): Promise<void> {
    await this.endAttack();
    await Promise.all(this.#lasting.splice(0).map((part) => part.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes something at the end of the attack, or of the network if it belongs to no attack. */
  own<T extends Part>(part: T): T {
    (this.#isStarted ? this.#ofAttack : this.#lasting).push(part);
    return part;
  }

  /** Starts the committee's four providers. */
  startProviders(settings: Settings = {}, options: ProviderOptions = {}): Promise<Committee> {
    const start = (index: number) => this.startProvider(index, settings, options);
    return Promise.all([start(0), start(1), start(2), start(3)]);
  }

  /**
   * Returns the Web Oracle settings of a provider.
   *
   * @param name The provider's name.
   */
  webOracle(name: string): Settings {
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
   */
  async startProvider(index = 0, settings: Settings = {}, options: ProviderOptions = {}): Promise<Provider> {
    const { env = {}, name = this.newName("provider"), nodeOptions = "", readyPath } = options;
    const { address, privateKey } = PROVIDERS[index] as Account;
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
    const service = await this.#startService({
      program: "provider",
      name,
      config,
      privateKeys: [privateKey],
      env: own,
      ...(readyPath !== undefined && { readyPath }),
    });
    return { ...service, index, address, privateKey };
  }

  /**
   * Starts an operator with a sender of its own.
   *
   * @param network Settings of its network.
   * @param settings Settings of its configuration.
   */
  async startOperator(
    network: Settings = {},
    settings: Settings = {},
    { providers = this.providers }: { providers?: readonly { address: Address; url: string }[] } = {},
  ): Promise<Operator> {
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
    const service = await this.#startService({ program: "operator", name, config, privateKeys: [privateKey] });
    return { ...service, sender };
  }

  async #startService(options: Omit<ServiceOptions, "folder" | "build">): Promise<Service> {
    const folder = this.#folder;
    const service = this.own(await startService({ ...options, folder, build: this.build }));
    await service.ready();
    return { ...service, log: () => readFileSync(service.logFile, "utf8"), folder };
  }

  /** Returns the path of a file that goes with the network. */
  file(kind: string): string {
    return join(this.#folder, this.newName(kind));
  }

  newName(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  /** Returns addresses on loopback that no caller used before, so that no attack uses up the limits of another. */
  callers(count: number): string[] {
    return Array.from({ length: count }, () => {
      const number = ++this.#callers;
      return `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    });
  }

  caller(): string {
    return this.callers(1)[0] as string;
  }

  /** Publishes specs, and returns their hashes. */
  publish(...specs: (string | object)[]): Promise<Hex[]> {
    return publishSpecs(this.client, this.registry, specs);
  }

  async publishOne(spec: string | object): Promise<Hex> {
    const [hash] = await this.publish(spec);
    return hash as Hex;
  }

  /** The hex key of a spec with arguments. */
  key(specHash: Hex, ...args: string[]): Hex {
    const key = webOracleKey({ specHash, args });
    if (!key.ok) throw new Error(key.error);
    return key.value;
  }

  /** Asks a provider for a report. */
  report(
    provider: { readonly url: string },
    { dataset = this.prices, key, round = Math.floor(Date.now() / 1_000) - 1 }: ReportRequest,
    options: CallOptions = {},
  ): Promise<JsonAnswer> {
    const hex = key.startsWith("0x") ? key : stringToHex(key);
    const body = { network_id: CHAIN_ID, dataset, key: hex, timestamp: round };
    return postJson(`${provider.url}/report`, body, { from: this.caller(), ...options });
  }

  /** Asks a provider for a report of a published spec until it has read the spec: it reads only a few a second. */
  async reportOfSpec(
    provider: { readonly url: string },
    request: ReportRequest,
    options: CallOptions = {},
  ): Promise<JsonAnswer> {
    for (;;) {
      const answer = await this.report(provider, request, options);
      if (answer.json?.code !== "registry_unavailable") return answer;
      await sleep(300);
    }
  }

  /** Asks an operator for an update. */
  update(
    operator: { readonly url: string },
    { dataset = this.prices, key = priceKey(1), broadcast = false }: UpdateRequest,
    options: CallOptions = {},
  ): Promise<JsonAnswer> {
    const body = { network_id: CHAIN_ID, dataset, key, broadcast };
    return postJson(`${operator.url}/data/request`, body, { from: this.caller(), timeoutMs: 30_000, ...options });
  }

  /** Asks if a service is alive, from an address of its own. */
  live(service: { readonly url: string }, timeoutMs = 10_000): Promise<Answer> {
    return call(`${service.url}/live`, { from: this.caller(), timeoutMs });
  }
}
