import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import type { Hex } from "viem";
import { type Replay, replay } from "../evidence/replay.js";
import { REPLAY_USAGE } from "./usage.js";
import { kindOf, valueToJson, valueToText } from "./value-text.js";

/** Runs `provider replay`: computes values again from their evidence. */
export async function replayEvidence(args: readonly string[]): Promise<void> {
  const options = { key: { type: "string" }, round: { type: "string" }, json: { type: "boolean" } } as const;
  const { values, positionals: files } = parseCommandLine(args, REPLAY_USAGE, options);
  if (files.length === 0) throw new ConfigError(`Give at least one file of evidence.\n\n${REPLAY_USAGE}`);
  const { key, round } = values;
  if (round !== undefined && !/^\d{1,15}$/.test(round))
    throw new ConfigError(`--round: ${round} is not the time of a round. Give seconds since 1970.`);
  const selection = { key, round: round === undefined ? undefined : Number(round) };
  let isSame: boolean | undefined;
  for (const file of files) {
    for await (const again of replay(file, selection)) {
      isSame = (isSame ?? true) && again.isSame;
      show(again, values.json === true);
    }
  }
  if (isSame === undefined)
    throw new ConfigError("There is no such decision in these files. Give other files, or another --key or --round.");
  process.exitCode = isSame ? 0 : 1;
}

function show(again: Replay, isJson: boolean): void {
  const { key, at } = again.record;
  const shown = { key: { ...again, name: keyToAscii(key as Hex) ?? key }, value: again.value, at: BigInt(at) };
  console.log(
    isJson
      ? JSON.stringify({ ...valueToJson(shown), ...comparisonOf(again, kindOf(shown.key)) }, null, 2)
      : `${valueToText(shown)}\n${verdictOn(again)}`,
  );
}

/** Returns what is added to the value and its sources in the JSON object. */
function comparisonOf({ record, isSame }: Replay, kind: DatasetKind): object {
  const { outcome, value } = record;
  return {
    is_same: isSame,
    // In the form of the computed value, so that the two can be compared.
    signed: { outcome, value: outcome === "OK" ? formatValue(kind, BigInt(value)) : null },
    round: record.timestamp,
    network_id: record.network_id,
  };
}

function verdictOn({ record, decision, isSame }: Replay): string {
  const decided = `${record.outcome} ${record.value}`;
  return isSame
    ? `This is the decision for round ${record.timestamp}: ${decided}`
    : `This is NOT the decision for round ${record.timestamp}, which was ${decided}: the evidence gives ` +
        `${decision.outcome} ${decision.value}. If the two are equal, a source's part in the value differs.`;
}
