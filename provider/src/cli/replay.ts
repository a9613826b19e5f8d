import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import type { Hex } from "viem";
import { type Replay, replay } from "../evidence/replay.js";
import { REPLAY_USAGE } from "./usage.js";
import { kindOf, valueToJson, valueToText } from "./value-text.js";

/** Runs `provider replay`: computes a value again from its evidence. */
export async function replayEvidence(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseCommandLine(args, REPLAY_USAGE, { json: { type: "boolean" } });
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined)
    throw new ConfigError(`Give exactly one file of evidence.\n\n${REPLAY_USAGE}`);
  const again = await replay(file);
  process.exitCode = again.isSame ? 0 : 1;
  const { key, at } = again.record;
  const shown = { key: { ...again, name: keyToAscii(key as Hex) ?? key }, value: again.value, at: BigInt(at) };
  console.log(
    values.json === true
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
