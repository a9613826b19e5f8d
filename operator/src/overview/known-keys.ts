import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Address, decodeEventLog, encodeEventTopics, type Hex, numberToHex } from "viem";
import { decode, readLogs } from "../chain/dataset.js";
import { type Rpc, RpcError, requestQuantity } from "../chain/rpc.js";

const FIRST_WINDOW = 2_000;
/** The newest are kept: anyone may add keys. */
const MAX_KEYS = 1_000;
/** So many blocks are looked at again: the chain may have replaced them. */
const OVERLAP = 16;

/** The keys that were added to a dataset in its recent blocks. Kept in memory alone, and read anew after a restart. */
export class KnownKeys {
  readonly #keys = new Set<Hex>();
  #next: number | null = null;
  #reading: Promise<void> | null = null;

  constructor(
    private readonly rpc: Rpc,
    private readonly dataset: Address,
    /** How far back is looked, in blocks. */
    private readonly blocks: number,
  ) {}

  /** Those that are known, the newest first. The first to ask waits for one window of blocks; the rest follows. */
  async read(): Promise<readonly Hex[]> {
    const isFirst = this.#next === null;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null;
    });
    if (isFirst) await this.#reading;
    else this.#reading.catch(() => {});
    return [...this.#keys].toReversed();
  }

  async #readOn(): Promise<void> {
    const head = Number(await requestQuantity(this.rpc, "eth_blockNumber", []));
    let next = Math.max(0, this.#next === null ? head - this.blocks + 1 : this.#next - OVERLAP);
    for (let window = FIRST_WINDOW; next <= head; ) {
      const last = Math.min(head, next + window - 1);
      try {
        for (const key of await this.#added(next, last)) this.#add(key);
        next = last + 1;
        this.#next = next;
      } catch (error) {
        if (!(error instanceof RpcError) || error.failure !== "refused" || window === 1) throw error;
        window = Math.ceil(window / 2);
      }
    }
  }

  async #added(from: number, to: number): Promise<readonly Hex[]> {
    const topics = encodeEventTopics({ abi: datasetAbi, eventName: "KeyAdded" });
    const logs = await readLogs(this.rpc, this.dataset, numberToHex(from), numberToHex(to), topics);
    return logs.map((log) =>
      decode(
        this.rpc,
        "eth_getLogs",
        () => decodeEventLog({ abi: datasetAbi, eventName: "KeyAdded", ...log }).args.key,
      ),
    );
  }

  #add(key: Hex): void {
    this.#keys.add(key);
    if (this.#keys.size <= MAX_KEYS) return;
    const [oldest] = this.#keys;
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}
