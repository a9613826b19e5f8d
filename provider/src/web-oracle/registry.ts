import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { type Address, createPublicClient, type Hex, http, keccak256, type PublicClient } from "viem";

/** Where the specs of one network are published. */
export interface RegistrySettings {
  readonly chainId: number;
  readonly address: Address;
  /** May hold a token: it is in no error. */
  readonly rpcUrl: string;
}

/** The RPC does not answer, answers nonsense, or is another network's. Whether a spec is published is not known. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

const RPC_MS = 4_000;

/** Reads published specs from the chain. */
export class Registry {
  readonly #settings: RegistrySettings;
  readonly #client: PublicClient;
  #isChecked = false;

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
    this.#client = createPublicClient({ transport: http(settings.rpcUrl, { timeout: RPC_MS, retryCount: 0 }) });
  }

  /**
   * The bytes of a published spec, or null when it was never published.
   *
   * @throws RegistryError
   */
  async read(specHash: Hex): Promise<Hex | null> {
    await this.#checkChainId();
    const { address } = this.#settings;
    const block = await this.#ask("eth_call", () =>
      this.#client.readContract({
        address,
        abi: webOracleRegistryAbi,
        functionName: "publishedAt",
        args: [specHash],
      }),
    );
    if (block === 0n) return null;
    const logs = await this.#ask("eth_getLogs", () =>
      this.#client.getContractEvents({
        address,
        abi: webOracleRegistryAbi,
        eventName: "SpecPublished",
        args: { specHash },
        fromBlock: block,
        toBlock: block,
        strict: true,
      }),
    );
    const found = logs.find(({ args }) => keccak256(args.spec) === specHash);
    if (found === undefined) throw new RegistryError(`block ${block} has no event with the spec's bytes`);
    return found.args.spec;
  }

  async #checkChainId(): Promise<void> {
    if (this.#isChecked) return;
    const chainId = await this.#ask("eth_chainId", () => this.#client.getChainId());
    if (chainId !== this.#settings.chainId) throw new RegistryError(`the RPC is of network ${chainId}`);
    this.#isChecked = true;
  }

  async #ask<T>(method: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      // The library's message has the URL in it.
      throw new RegistryError(`${method} failed (${error instanceof Error ? error.name : "an error"})`);
    }
  }
}
