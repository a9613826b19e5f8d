import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { type Service, type Settings, startOperator, startProvider } from "@dataset-oracle/devnet/network-services";
import type { ServiceOptions } from "@dataset-oracle/devnet/service-process";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { TestNetwork } from "@dataset-oracle/devnet/test-support/test-network";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, keccak256, parseEther, stringToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { type CallOptions, call, type HttpResponse, type JsonAnswer, postJson } from "../http.js";
import { type SimulatedInternet, startSimulatedInternet } from "./simulated-internet.js";

const CHAIN_ID = 42;
export const PRICE_KEYS: readonly string[] = MARKET_PAIRS.map(({ pair }) => `SPOTPX/${pair}`);

/** Returns one of the price keys; the numbers go round. */
export const priceKey = (number: number): string => PRICE_KEYS[number % PRICE_KEYS.length] as string;

const PRELOADS = ["redirect-connections.cjs", "shift-clock.cjs"]
  .map((file) => `--require=${join(import.meta.dirname, file)}`)
  .join(" ");

export interface RunningProvider extends Service {
  /** In the committee. */
  readonly index: number;
  readonly privateKey: Hex;
}

export type FourProviders = readonly [RunningProvider, RunningProvider, RunningProvider, RunningProvider];

interface ProviderOptions extends Partial<Pick<ServiceOptions, "name" | "env" | "readyPath">> {
  /** Further options of Node. */
  readonly nodeOptions?: string;
}

interface ReportQuestion {
  readonly dataset?: Address;
  /** Text, or hex after 0x. */
  readonly key: string;
  readonly round?: number;
}

interface UpdateQuestion {
  readonly dataset?: Address;
  readonly key?: string;
  readonly broadcast?: boolean;
}

/**
 * A chain, the contracts, a simulated internet, four providers and an operator. Every process runs as its owner would
 * start it, with the default limits unless an attack says otherwise.
 */
export class Network extends TestNetwork {
  /** The number of parts that outlast an attack. */
  #lasting = 0;
  #callers = 0;
  #names = 0;

  market!: Market;
  internet!: SimulatedInternet;
  /** The committee. */
  providers!: FourProviders;
  operator!: Service;

  async start(): Promise<void> {
    await this.startChain();
    await this.deployWebOracle();
    this.writeDeployment(PRICE_KEYS);
    this.market = this.own(await startMarket({ seed: 42 }));
    this.internet = this.own(await startSimulatedInternet(this.folder, this.market.url));
    this.providers = await this.startProviders();
    this.operator = await this.startOperator();
    this.#lasting = this.size;
  }

  /** Ends what an attack started. */
  endAttack(): Promise<void> {
    return this.closeAfter(this.#lasting);
  }

  /** Starts the committee's four providers. */
  startProviders(settings: Settings = {}, options: ProviderOptions = {}): Promise<FourProviders> {
    const start = (index: number) => this.startProvider(index, settings, options);
    return Promise.all([start(0), start(1), start(2), start(3)]);
  }

  /**
   * Starts a provider of the committee.
   *
   * @param settings Settings of its configuration.
   * @param options An earlier name starts it again with its files.
   */
  async startProvider(index = 0, settings: Settings = {}, options: ProviderOptions = {}): Promise<RunningProvider> {
    const { env = {}, name = this.newName("provider"), nodeOptions = "", ...process } = options;
    const account = PROVIDERS[index] as Account;
    const own = { ...this.internet.env, NODE_OPTIONS: `${PRELOADS} ${nodeOptions}`, ...env };
    const service = await startProvider(this.place, account, { ...process, name, env: own }, settings);
    return { ...service, index, privateKey: account.privateKey };
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
    { providers: asked = this.providers }: { providers?: readonly { address: Address; url: string }[] } = {},
  ): Promise<Service> {
    const name = this.newName("operator");
    const privateKey = keccak256(stringToHex(name));
    const address = privateKeyToAddress(privateKey);
    await this.client.setBalance({ address, value: parseEther("100") });
    const providers = asked.map(({ address, url }) => ({ address, url }));
    return startOperator(this.place, [{ address, privateKey }], { name }, { providers, ...network }, settings);
  }

  /** Returns the path of a file that goes with the network. */
  file(kind: string): string {
    return join(this.folder, this.newName(kind));
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
    { dataset = this.prices, key, round = Math.floor(Date.now() / 1_000) - 1 }: ReportQuestion,
    options: CallOptions = {},
  ): Promise<JsonAnswer> {
    const hex = key.startsWith("0x") ? key : stringToHex(key);
    const body = { network_id: CHAIN_ID, dataset, key: hex, timestamp: round };
    return postJson(`${provider.url}/report`, body, { from: this.caller(), ...options });
  }

  /** Asks a provider for a report of a published spec until it has read the spec: it reads only a few a second. */
  async reportOfSpec(
    provider: { readonly url: string },
    request: ReportQuestion,
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
    { dataset = this.prices, key = priceKey(1), broadcast = false }: UpdateQuestion,
    options: CallOptions = {},
  ): Promise<JsonAnswer> {
    const body = { network_id: CHAIN_ID, dataset, key, broadcast };
    return postJson(`${operator.url}/data/request`, body, { from: this.caller(), timeoutMs: 30_000, ...options });
  }

  /** Asks if a service is alive, from an address of its own. */
  live(service: { readonly url: string }, timeoutMs = 10_000): Promise<HttpResponse> {
    return call(`${service.url}/live`, { from: this.caller(), timeoutMs });
  }
}
