import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { getAddress } from "viem";

/** Counts the updates that are mined for the feeds of some datasets, and the transactions that they take. */
export class MinedUpdates {
  /** The numbers of updates that were due, of transactions with at least one of them, and of transactions with none. */
  counts = { updates: 0, neededTransactions: 0, needlessTransactions: 0 };
  #nextBlock = 0n;
  /** The stored round of each key, by dataset and key hash. */
  #stored = new Map();

  /** @param minGap The least time between two rounds of a key, in seconds. One that comes sooner was not due. */
  constructor({ client, datasets }, minGap) {
    this.client = client;
    this.datasets = datasets;
    this.minGap = minGap;
  }

  /** How many keys have a value. */
  get storedKeyCount() {
    return this.#stored.size;
  }

  /** Reads the blocks since the last call, and returns the counts of all blocks so far. */
  async read() {
    const { client, datasets } = this;
    const toBlock = await client.getBlockNumber({ cacheTime: 0 });
    const fromBlock = this.#nextBlock;
    if (toBlock < fromBlock) return this.counts;
    this.#nextBlock = toBlock + 1n;
    const updated = await client.getContractEvents({
      address: datasets,
      abi: datasetAbi,
      eventName: "Updated",
      fromBlock,
      toBlock,
    });
    for (let blockNumber = fromBlock; blockNumber <= toBlock; blockNumber++) {
      const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
      for (const { hash, to } of transactions) {
        if (to === null || !datasets.includes(getAddress(to))) continue;
        this.#count(updated.filter(({ transactionHash }) => transactionHash === hash));
      }
    }
    return this.counts;
  }

  #count(events) {
    const due = events.filter((event) => this.#store(event)).length;
    const { updates, neededTransactions, needlessTransactions } = this.counts;
    const isNeeded = due > 0;
    this.counts = {
      updates: updates + due,
      neededTransactions: neededTransactions + (isNeeded ? 1 : 0),
      needlessTransactions: needlessTransactions + (isNeeded ? 0 : 1),
    };
  }

  /** Stores the round of an update. Returns true if its key was due. */
  #store({ address, args: { keyHash, timestamp } }) {
    const id = `${address} ${keyHash}`;
    const before = this.#stored.get(id);
    this.#stored.set(id, Number(timestamp));
    return before === undefined || Number(timestamp) - before >= this.minGap;
  }
}
