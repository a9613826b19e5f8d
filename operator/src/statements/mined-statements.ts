import { readTransaction } from "../chain/read-and-send-transactions.js";
import { readBlockNumber } from "../chain/read-blocks.js";
import { readUpdates } from "../chain/update-events.js";
import type { Dataset, Network } from "../network.js";
import { holdStatementsInCalldata } from "./hold-statements-in-calldata.js";

/**
 * The maximum number of transactions that are read each time; the others are skipped. Sending more to hide one costs the
 * sender gas for each.
 */
const MAX_READ = 50;
const MAX_BLOCKS = 1_000;

/** Reads what is signed in the mined updates of a dataset, whoever sent them. */
export class MinedStatements {
  /** The first block that was not read; null before the first reading, which only finds the head. */
  #next: number | null = null;

  constructor(
    private readonly network: Network,
    private readonly dataset: Dataset,
  ) {}

  /**
   * Holds what is signed in the updates that were mined since the last reading.
   *
   * @throws RpcError
   */
  async read(): Promise<void> {
    const { network, dataset } = this;
    const { client, transactions } = network;
    const head = await readBlockNumber(client);
    if (this.#next !== null && this.#next <= head) {
      const updates = await readUpdates(client, dataset.address, null, Math.max(this.#next, head - MAX_BLOCKS), head);
      const hashes = new Set(updates.map(({ transactionHash }) => transactionHash));
      // What is signed in a shared transaction was read when it arrived.
      const unread = [...hashes].filter((hash) => !transactions.hasHash(hash));
      for (const hash of unread.slice(0, MAX_READ)) {
        const sent = await readTransaction(client, hash);
        if (sent !== null) holdStatementsInCalldata(network, dataset, sent.input);
      }
    }
    this.#next = head + 1;
  }
}
