import type { DecodedReport } from "@dataset-oracle/protocol/decode-update-reports";
import type { Agreement } from "@dataset-oracle/protocol/http-schemas/data";
import { type Address, hexToBigInt } from "viem";
import type { PastUpdate } from "../chain/update-events.js";
import type { Dataset } from "../network.js";
import type { MinedRound } from "./mined-reports.js";

type Shown = readonly [update: PastUpdate, round: MinedRound];

/**
 * Counts, for each member of the committee, the rounds that it signed, and those in which it signed what was stored.
 */
export function agreementOf(dataset: Dataset, shown: readonly Shown[]): Agreement {
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
