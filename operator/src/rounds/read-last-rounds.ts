import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { Agreement, DataPointAnswer, LastUpdate } from "@dataset-oracle/protocol/http-schemas/data";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { type Hex, hexToBigInt } from "viem";
import type { PastUpdate } from "../chain/update-events.js";
import type { DataPoint } from "../data-point.js";
import { findHistory } from "../history/find-history.js";
import type { Dataset } from "../network.js";
import type { Operator } from "../operator.js";
import type { MinedReports, MinedRound } from "./mined-reports.js";
import { agreementOf } from "./provider-agreement.js";

/** This many of the last rounds are shown, and the providers' agreement is counted over them. */
const ROUNDS = 10;

/**
 * Reads the newest update of a data point in the blocks that the operator searches, who sent the last ones, and how
 * often each provider's report agreed with what was stored; null when there is none.
 */
export async function readLastRounds(
  { clock }: Operator,
  rounds: MinedReports,
  dataPoint: DataPoint,
): Promise<{
  readonly last: LastUpdate;
  readonly agreement: Agreement;
  readonly lastRounds: DataPointAnswer["last_rounds"];
} | null> {
  const { network, dataset, key } = dataPoint;
  const { updateIndex } = dataset;
  const head = await updateIndex.refresh();
  const from = Math.max(0, head - network.settings.historyBlocks + 1);
  const newest = { from, to: head, limit: 1, fromTime: null, toTime: null };
  const [update] = (await findHistory(dataPoint, newest, clock)).updates;
  if (update === undefined) return null;
  const last = toLastUpdate(dataset, update, await rounds.read(dataPoint, update));
  const recent = updateIndex.updatesOf(key, updateIndex.blocks).slice(0, ROUNDS);
  const shown = await Promise.all(recent.map(async (one) => [one, await rounds.read(dataPoint, one)] as const));
  const lastRounds = shown.map(([{ timestamp, transactionHash }, { sender }]) => {
    return { timestamp: Number(timestamp), transaction_hash: transactionHash, sender };
  });
  return { last, agreement: agreementOf(dataset, shown), lastRounds };
}

function toLastUpdate({ kind }: Dataset, update: PastUpdate, { sender, reports }: MinedRound): LastUpdate {
  const values = reports?.reports.flatMap(({ outcome, value }) => (outcome === "OK" ? [value] : [])) ?? [];
  return {
    transaction_hash: update.transactionHash,
    block_number: update.blockNumber,
    carrier: sender,
    reports: reports?.reports.map((report) => ({ ...report, value: formatValue(kind, report.value) })) ?? null,
    absentees: [...(reports?.absentees ?? [])],
    spread: spreadOf(kind, values),
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
