import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import { getContractEvents } from "viem/actions";
import { type Blocks, readBlockNumber, readWindows } from "../../rpc/blocks.js";
import type { ChainClient } from "../../rpc/client.js";
import { unwrapRpcError } from "../../rpc/rpc-error.js";

/** Reads what the events from one block to another, both inclusive, have added, each under its id. Ids can repeat. */
type ReadEvents<T extends NonNullable<unknown>> = (
  from: bigint,
  to: bigint,
) => Promise<readonly (readonly [id: Hex, entry: T])[]>;

/** This many blocks are read again: the chain may have replaced them. */
const OVERLAP = 16;

/**
 * The entries that a contract's recent events have added. They are kept in memory only, and read again after a restart.
 */
export class RecentEntries<T extends NonNullable<unknown>> {
  readonly #entries: LRUCache<Hex, T>;
  #next: number | null = null;
  #reading: Promise<void> | null = null;

  /**
   * @param blocks How far back events are searched for.
   * @param max How many entries are kept. There is a limit because anyone may cause such events.
   */
  constructor(
    private readonly client: ChainClient,
    private readonly blocks: number,
    max: number,
    private readonly readEvents: ReadEvents<T>,
  ) {
    this.#entries = new LRUCache({ max });
  }

  /**
   * Returns the known entries, the newest first. Callers that come before the first window of blocks has been read wait
   * for the whole range; later ones get what is known.
   */
  async read(): Promise<readonly (readonly [id: Hex, entry: T])[]> {
    const isFirst = this.#next === null;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null;
    });
    if (isFirst) await this.#reading;
    else this.#reading.catch(() => {});
    return [...this.#entries.entries()];
  }

  async #readOn(): Promise<void> {
    const head = await readBlockNumber(this.client);
    const from = Math.max(0, this.#next === null ? head - this.blocks + 1 : this.#next - OVERLAP);
    const read = ({ from, to }: Blocks) => this.readEvents(BigInt(from), BigInt(to));
    for await (const { to, result } of readWindows({ from, to: head }, "forwards", read)) {
      for (const [id, entry] of result) this.#entries.set(id, entry);
      this.#next = to + 1;
    }
  }
}

const MAX_KEYS = 1_000;
const MAX_SPECS = 100;

/** The keys that were added to a dataset. Each key is its own id. */
export function recentKeys(client: ChainClient, dataset: Address, blocks: number): RecentEntries<true> {
  return new RecentEntries(client, blocks, MAX_KEYS, async (fromBlock, toBlock) => {
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
): RecentEntries<T> {
  return new RecentEntries(client, blocks, MAX_SPECS, async (fromBlock, toBlock) => {
    const filter = { address: registry, abi: webOracleRegistryAbi, eventName: "SpecPublished", strict: true } as const;
    const events = getContractEvents(client, { ...filter, fromBlock, toBlock });
    return (await unwrapRpcError(client, "eth_getLogs", events)).flatMap(({ args }) => {
      const spec = understand(args.spec);
      return spec === null ? [] : [[args.specHash, spec] as const];
    });
  });
}
