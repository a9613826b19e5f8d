import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { DecodedReport } from "@dataset-oracle/protocol/decode-update-reports";
import type { Agreement, DataPointAnswer, LastUpdate } from "@dataset-oracle/protocol/http-schemas/data";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { type Address, type Hex, hexToBigInt } from "viem";
import type { Clock } from "../../context.js";
import type { Dataset } from "../../dataset/dataset.js";
import type { PastUpdate } from "../../dataset/update-events.js";
import { findHistory, type IndexedKey } from "./find-history.js";
import type { MinedReports, MinedRound } from "./mined-reports.js";

/** This many of the last rounds are shown, and the providers' agreement is counted over them. */
const ROUNDS = 10;

/**
 * Reads the newest update of a data point in the blocks that the operator searches, who sent the last ones, and how
 * often each provider's report agreed with what was stored; null when there is none.
 */
export async function readLastRounds(
  indexed: IndexedKey,
  mined: MinedReports,
  historyBlocks: number,
  clock: Clock,
): Promise<{
  readonly last: LastUpdate;
  readonly agreement: Agreement;
  readonly lastRounds: DataPointAnswer["last_rounds"];
} | null> {
  const { dataset, index, key } = indexed;
  const head = await index.refresh();
  const from = Math.max(0, head - historyBlocks + 1);
  const newest = { from, to: head, limit: 1, fromTime: null, toTime: null };
  const [update] = (await findHistory(indexed, newest, clock)).updates;
  if (update === undefined) return null;
  const last = toLastUpdate(dataset, update, await mined.read(dataset, key, update));
  const recent = index.updatesOf(key, index.blocks).slice(0, ROUNDS);
  const shown = await Promise.all(recent.map(async (one) => [one, await mined.read(dataset, key, one)] as const));
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

type Shown = readonly [update: PastUpdate, round: MinedRound];

/**
 * Counts, for each member of the committee, the rounds that it signed, and those in which it signed what was stored.
 */
function agreementOf(dataset: Dataset, shown: readonly Shown[]): Agreement {
  const rounds = shown.flatMap(([update, { reports }]) => (reports === null ? [] : [{ update, ...reports }]));
  const { members, toleranceBps } = dataset.committee.current;
  const agrees = (update: PastUpdate, report: DecodedReport) =>
    report.outcome === update.status &&
    (report.outcome !== "OK" || agreesWithStored(dataset, toleranceBps, update, report));
  return {
    rounds: rounds.length,
    providers: members.map((provider: Address) => {
      const signed = rounds.flatMap(({ update, reports }) => {
        const report = reports.find((one) => one.provider === provider);
        return report === undefined ? [] : [agrees(update, report)];
      });
      return { provider, signed: signed.length, agreed: signed.filter(Boolean).length };
    }),
  };
}

/** Reports whether a value agrees with the stored one, by the rule of the dataset's kind. */
function agreesWithStored(
  { kind }: Dataset,
  toleranceBps: bigint,
  stored: PastUpdate,
  { value }: DecodedReport,
): boolean {
  if (kind === "majority") return value === stored.value;
  const [median, signed] = [hexToBigInt(stored.value), hexToBigInt(value)];
  const distance = signed > median ? signed - median : median - signed;
  return distance * 10_000n <= toleranceBps * median;
}
