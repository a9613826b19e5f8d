import { encodeUpdateBatch, type SignedRow } from "@dataset-oracle/protocol/update";
import { concatHex, type Hex, keccak256 } from "viem";
import type { Dataset, Network } from "../network.js";
import { askableOf, type Operator } from "../operator.js";
import { gatherRows } from "../update/gather.js";
import { type BatchSimulation, simulateBatch } from "../update/simulate.js";

/** Data points of one dataset at one round. */
export interface Batch {
  readonly network: Network;
  readonly dataset: Dataset;
  /** 1 to 256. */
  readonly keys: readonly Hex[];
  /** Seconds since 1970. */
  readonly round: bigint;
}

/** An update of a batch that the chain would take now. */
export interface ReadyBatch extends BatchSimulation {
  readonly data: Hex;
}

/** The rows that the committee signs of a batch. All who ask for the same share them. */
export async function rowsOf(operator: Operator, batch: Batch): Promise<readonly SignedRow[]> {
  const { network, dataset, keys, round } = batch;
  const committee = dataset.committee.current;
  const id = keccak256(concatHex([dataset.address, committee.hash, ...keys.map((key) => keccak256(key))]));
  const header = { chainId: network.chainId, dataset: dataset.address, keys, round };
  const askable = askableOf(operator, network, committee);
  const work = operator.rows.run(`${network.chainId} ${id} ${round}`, () => gatherRows(header, askable));
  const answers = await work.result;
  for (const answer of answers) {
    if (answer.kind === "row") continue;
    const { provider, reason, detail } = answer;
    operator.logger.debug({ network: network.chainId, provider, reason, detail }, "no row of a batch");
  }
  return answers.flatMap((answer) => (answer.kind === "row" ? [answer] : []));
}

/**
 * Makes the transaction of a batch.
 *
 * @returns Null when the chain would store none of its keys.
 */
export async function readyBatch(operator: Operator, batch: Batch): Promise<ReadyBatch | null> {
  const { network, dataset } = batch;
  const committee = dataset.committee.current;
  const rows = await rowsOf(operator, batch);
  if (rows.length === 0) return null;
  const data = encodeUpdateBatch(dataset.kind, batch, committee, rows);
  const simulation = await simulateBatch(network, dataset.address, data);
  return simulation.stored.includes(true) ? { ...simulation, data } : null;
}
