import { setTimeout as delay } from "node:timers/promises";
import { readBlockNumber } from "../chain/blocks.js";
import { describeError } from "../chain/rpc-error.js";
import { readTransaction } from "../chain/transactions.js";
import { readUpdates } from "../chain/update-events.js";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import { holdStatementsInCalldata } from "./statements-in-calldata.js";

/** The chain is read after this many polls of the RPC endpoints. */
const POLLS = 5;
/**
 * The maximum number of transactions that are read each time; the others are skipped. Whoever sends more pays for each.
 */
const MAX_READ = 50;
const MAX_BLOCKS = 1_000;

/** Reads what is signed in the mined updates of all relayers, until the operator shuts down. It never throws. */
export async function collectMinedStatements(operator: Operator): Promise<void> {
  const networks = [...operator.networks.values()].filter(({ sharing }) => sharing !== null);
  await Promise.all(
    networks.flatMap((network) => [...network.datasets.values()].map((dataset) => watch(operator, network, dataset))),
  );
}

async function watch({ closing, logger }: Operator, network: Network, dataset: Dataset): Promise<void> {
  const { client, settings } = network;
  let next: number | null = null;
  while (!closing.aborted) {
    try {
      const head = await readBlockNumber(client);
      if (next !== null && next <= head) {
        const updates = await readUpdates(client, dataset.address, null, Math.max(next, head - MAX_BLOCKS), head);
        const hashes = new Set(updates.map(({ transactionHash }) => transactionHash));
        // What is signed in a shared transaction was read when it arrived.
        const unread = [...hashes].filter((hash) => !network.transactions.hasHash(hash));
        for (const hash of unread.slice(0, MAX_READ)) {
          const sent = await readTransaction(client, hash);
          if (sent !== null) holdStatementsInCalldata(network, dataset, sent.input);
        }
      }
      next = head + 1;
    } catch (error) {
      const fields = { network: network.chainId, dataset: dataset.address, reason: describeError(error) };
      logger.debug(fields, "mined updates cannot be read");
    }
    await delay(POLLS * settings.rpcPollMs, undefined, { signal: closing, ref: false }).catch(() => {});
  }
}
