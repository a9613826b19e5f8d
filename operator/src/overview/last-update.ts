import { decodeUpdate } from "@dataset-oracle/protocol/decode-update";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import type { LastUpdate } from "@dataset-oracle/protocol/wire-data";
import { getAddress, type Hex, hexToBigInt } from "viem";
import { readTransaction } from "../chain/transactions.js";
import type { DataPoint } from "../data-point.js";
import type { Operator } from "../operator.js";
import { formatValue } from "../update/answer.js";

/** Reads the newest update of a data point in the blocks that the operator searches; null when there is none. */
export async function readLastUpdate(operator: Operator, dataPoint: DataPoint): Promise<LastUpdate | null> {
  const { network, dataset, key } = dataPoint;
  const { client, settings, chainId } = network;
  const head = await operator.histories.readHead(network, dataset);
  const from = Math.max(0, head - settings.historyBlocks + 1);
  const newest = { from, to: head, limit: 1, fromTime: null, toTime: null };
  const [update] = (await operator.histories.find(dataPoint, newest)).updates;
  if (update === undefined) return null;
  const sent = await readTransaction(client, update.transactionHash);
  // An update that another contract relayed does not show its reports in the transaction.
  const isDirect = sent !== null && sent.to !== null && getAddress(sent.to) === dataset.address;
  const relayed = isDirect ? await decodeUpdate(sent.input, { chainId, dataset: dataset.address, key }) : null;
  const round = relayed?.round === update.timestamp ? relayed : null;
  const values = round?.reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [value] : [])) ?? [];
  return {
    transaction_hash: update.transactionHash,
    block_number: update.blockNumber,
    carrier: sent === null ? null : getAddress(sent.from),
    reports: round?.reports.map((report) => ({ ...report, value: formatValue(dataset.kind, report.value) })) ?? null,
    absentees: [...(round?.absentees ?? [])],
    spread: spreadOf(dataset.kind, values),
  };
}

function spreadOf(kind: DatasetKind, values: readonly Hex[]): string | null {
  const [first, ...others] = values.map((value) => hexToBigInt(value));
  if (kind === "majority" || first === undefined) return null;
  let [lowest, highest] = [first, first];
  for (const value of others) {
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  return (highest - lowest).toString();
}
