import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import type { ServicePlace } from "@dataset-oracle/devnet/network-services";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import { clientOf, type TestChainClient } from "./chain-client.js";
import { deployTestContract, deployTestDataset } from "./deploy-test-contracts.js";
import { sendCalls } from "./send-calls.js";

/** Something that ends with the network. */
interface Part {
  close(): Promise<unknown>;
}

/**
 * A network of processes that run as their owners would start them, on a chain where the contracts are deployed without
 * forge. All of it ends with `close`, or with a signal.
 */
export class TestNetwork {
  readonly folder = mkdtempSync(join(tmpdir(), "network-"));
  readonly #parts: Part[] = [];
  chain!: Anvil;
  client!: TestChainClient;
  /** A dataset of prices. */
  prices!: Address;
  /** The Web Oracle's datasets of numbers and of words, and its registry. */
  numbers!: Address;
  words!: Address;
  registry!: Address;

  /** @param build The root of the repository whose built operator and provider run. */
  constructor(readonly build = ROOT) {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => this.close().finally(() => process.exit(1)));
  }

  /**
   * Starts the chain, and deploys a dataset of prices.
   *
   * @param members Its committee, in ascending order; the devnet's providers by default.
   */
  async startChain(options: Parameters<typeof startAnvil>[0] = {}, members?: readonly Address[]): Promise<void> {
    this.chain = this.own(await startAnvil(options));
    this.client = clientOf(this.chain.url);
    this.prices = await deployTestDataset(this.chain.url, members && { members });
  }

  async deployWebOracle(): Promise<void> {
    const { url } = this.chain;
    this.numbers = await deployTestDataset(url, { keyForm: "WEB_ORACLE" });
    this.words = await deployTestDataset(url, { keyForm: "WEB_ORACLE", kind: "majority" });
    this.registry = await deployTestContract(url, "WebOracleRegistry");
  }

  /** Writes the deployment file, with the keys of the prices. */
  writeDeployment(keys: readonly string[]): void {
    const web = { keyForm: "WEB_ORACLE", keys: [] };
    const datasets = {
      prices: { address: this.prices, kind: "median", keyForm: "SPOT_PRICE", keys },
      ...(this.registry !== undefined && {
        numbers: { address: this.numbers, kind: "median", ...web },
        words: { address: this.words, kind: "majority", ...web },
      }),
    };
    const deployment = { chainId: 42, datasets, webOracleRegistry: this.registry };
    writeFileSync(join(this.folder, "deployment.json"), JSON.stringify(deployment));
  }

  /** Where its services run. */
  get place(): ServicePlace {
    return {
      ...{ chainUrl: this.chain?.url, folder: this.folder, deployment: "deployment.json", state: this.folder },
      ...{ build: this.build, own: (service) => this.own(service) },
    };
  }

  /** Publishes specs, objects or their text, and returns their hashes. */
  async publish(...specs: (string | object)[]): Promise<Hex[]> {
    const bytes = specs.map((spec) => stringToHex(typeof spec === "string" ? spec : canonical(spec)));
    const abi = webOracleRegistryAbi;
    const calls = bytes.map((spec) => encodeFunctionData({ abi, functionName: "publish", args: [spec] }));
    await sendCalls(this.client, this.registry, calls);
    return bytes.map((spec) => keccak256(spec));
  }

  /** Closes something with the network. */
  own<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** The number of parts that have not been closed. */
  get size(): number {
    return this.#parts.length;
  }

  /** Closes what was started last. @param from How many parts remain. */
  async closeAfter(from: number): Promise<void> {
    await Promise.all(this.#parts.splice(from).map((part) => part.close()));
  }

  async close(): Promise<void> {
    await this.closeAfter(0);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the canonical JSON (RFC 8785) of a value with strings, whole numbers, booleans, arrays and objects only. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
