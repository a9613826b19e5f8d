import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import { getContractEvents } from "viem/actions";
import { type ChainClient, readBlockNumber, unwrapRpcError } from "../chain/client.js";
import { RpcError } from "../chain/rpc-error.js";

/** Reads the things that the events from one block to another, both inclusive, are about, each by its name. Names can repeat. */
type ReadEvents<T extends NonNullable<unknown>> = (
  from: bigint,
  to: bigint,
) => Promise<readonly (readonly [name: Hex, thing: T])[]>;

const FIRST_WINDOW = 2_000;
/** So many blocks are read again: the chain may have replaced them. */
const OVERLAP = 16;

/** The newest things that a contract's recent events are about. They are kept in memory alone, and read again after a restart. */
export class RecentEvents<T extends NonNullable<unknown>> {
  readonly #things: LRUCache<Hex, T>;
  #next: number | null = null;
  #reading: Promise<void> | null = null;

  /**
   * @param blocks How far back events are searched for.
   * @param max How many things are kept. There is a limit because anyone may cause such events.
   */
  constructor(
    private readonly client: ChainClient,
    private readonly blocks: number,
    max: number,
    private readonly readEvents: ReadEvents<T>,
  ) {
    this.#things = new LRUCache({ max });
  }

  /** Returns the known things, the newest first. The first caller waits for one window of blocks; the rest follows. */
  async read(): Promise<readonly (readonly [name: Hex, thing: T])[]> {
    const isFirst = this.#next === null;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null;
    });
    if (isFirst) await this.#reading;
    else this.#reading.catch(() => {});
    return [...this.#things.entries()];
  }

  async #readOn(): Promise<void> {
    const head = await readBlockNumber(this.client);
    let next = Math.max(0, this.#next === null ? head - this.blocks + 1 : this.#next - OVERLAP);
    for (let window = FIRST_WINDOW; next <= head; ) {
      const last = Math.min(head, next + window - 1);
      try {
        for (const [name, thing] of await this.readEvents(BigInt(next), BigInt(last))) this.#things.set(name, thing);
        next = last + 1;
        this.#next = next;
      } catch (error) {
        if (!(error instanceof RpcError) || error.kind !== "refused" || window === 1) throw error;
        window = Math.ceil(window / 2);
      }
    }
  }
}

const MAX_KEYS = 1_000;
const MAX_SPECS = 100;

/** The keys that were added to a dataset, each under itself. */
export function recentKeys(client: ChainClient, dataset: Address, blocks: number): RecentEvents<true> {
  return new RecentEvents(client, blocks, MAX_KEYS, async (fromBlock, toBlock) => {
    const filter = { address: dataset, abi: datasetAbi, eventName: "KeyAdded", strict: true } as const;
    const events = getContractEvents(client, { ...filter, fromBlock, toBlock });
    return (await unwrapRpcError(client, "eth_getLogs", events)).map(({ args }) => [args.key, true]);
  });
}

/**
 * The request specs that were published, under their hashes.
 *
 * @param understand Returns what is known of a spec, given its canonical JSON; null if it is not understood.
 */
export function recentSpecs<T extends NonNullable<unknown>>(
  client: ChainClient,
  registry: Address,
  blocks: number,
  understand: (spec: Hex) => T | null,
): RecentEvents<T> {
  return new RecentEvents(client, blocks, MAX_SPECS, async (fromBlock, toBlock) => {
    const filter = { address: registry, abi: webOracleRegistryAbi, eventName: "SpecPublished", strict: true } as const;
    const events = getContractEvents(client, { ...filter, fromBlock, toBlock });
    return (await unwrapRpcError(client, "eth_getLogs", events)).flatMap(({ args }) => {
      const spec = understand(args.spec);
      return spec === null ? [] : [[args.specHash, spec] as const];
    });
  });
}
