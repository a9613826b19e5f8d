import { readPublishedSpec } from "@dataset-oracle/protocol/client/read-published-spec";
import { rpcTransport } from "@dataset-oracle/service/http-client/rpc-transport";
import { type Address, createPublicClient, type Hex, type PublicClient } from "viem";

/** The registry of one network's specs. */
export interface SpecRegistrySettings {
  readonly chainId: number;
  readonly address: Address;
  /** It may contain a token, so no error shows it. */
  readonly rpcUrl: string;
}

/** The RPC endpoint does not answer, answers nonsense, or belongs to another network. */
export class SpecRegistryError extends Error {
  override readonly name = "SpecRegistryError";
}

const RPC_MS = 4_000;

/** Reads published specs from one network. */
export class SpecRegistry {
  readonly #client: PublicClient;
  #isChecked = false;

  constructor(private readonly settings: SpecRegistrySettings) {
    this.#client = createPublicClient({ transport: rpcTransport(settings.rpcUrl, RPC_MS) });
  }

  /**
   * Returns the bytes of a published spec, or null when it was never published.
   *
   * @throws SpecRegistryError
   */
  async read(specHash: Hex): Promise<Hex | null> {
    const { address: registry, chainId } = this.settings;
    if (!this.#isChecked) {
      const actual = await ask("eth_chainId", () => this.#client.getChainId());
      if (actual !== chainId) throw new SpecRegistryError(`webOracle/rpcUrls/${chainId} belongs to network ${actual}`);
      this.#isChecked = true;
    }
    return ask("reading the spec", () => readPublishedSpec(this.#client, { registry, specHash }));
  }
}

async function ask<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // viem's messages contain the URL.
    throw new SpecRegistryError(`${what} failed (${error instanceof Error ? error.name : "an error"})`);
  }
}
