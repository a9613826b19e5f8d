import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import { getContractEvents } from "viem/actions";
import { type ChainClient, readBlockNumber, unwrapRpcError } from "../chain/client.js";
import { RpcError } from "../chain/rpc-error.js";

const FIRST_WINDOW = 2_000;
/** The newest are kept: anyone may add keys. */
const MAX_KEYS = 1_000;
/** So many blocks are read again: the chain may have replaced them. */
const OVERLAP = 16;

/** The keys that were added to a dataset in its recent blocks. They are kept in memory alone, and read again after a restart. */
export class KnownKeys {
  readonly #keys = new LRUCache<Hex, true>({ max: MAX_KEYS });
  #next: number | null = null;
  #reading: Promise<void> | null = null;

  constructor(
    private readonly client: ChainClient,
    private readonly dataset: Address,
    /** How far back keys are searched for, in blocks. */
    private readonly blocks: number,
  ) {}

  /** Returns the known keys, the newest first. The first caller waits for one window of blocks; the rest follows. */
  async read(): Promise<readonly Hex[]> {
    const isFirst = this.#next === null;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null;
    });
    if (isFirst) await this.#reading;
    else this.#reading.catch(() => {});
    return [...this.#keys.keys()];
  }

  async #readOn(): Promise<void> {
    const head = await readBlockNumber(this.client);
    let next = Math.max(0, this.#next === null ? head - this.blocks + 1 : this.#next - OVERLAP);
    for (let window = FIRST_WINDOW; next <= head; ) {
      const last = Math.min(head, next + window - 1);
      try {
        for (const { args } of await this.#added(next, last)) this.#keys.set(args.key, true);
        next = last + 1;
        this.#next = next;
      } catch (error) {
        if (!(error instanceof RpcError) || error.kind !== "refused" || window === 1) throw error;
        window = Math.ceil(window / 2);
      }
    }
  }

  #added(from: number, to: number) {
    const events = getContractEvents(this.client, {
      address: this.dataset,
      abi: datasetAbi,
      eventName: "KeyAdded",
      fromBlock: BigInt(from),
      toBlock: BigInt(to),
      strict: true,
    });
    return unwrapRpcError(this.client, "eth_getLogs", events);
  }
}
