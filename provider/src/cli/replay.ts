import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import type { Hex } from "viem";
import { type Replay, replay } from "../evidence/replay.js";
import { priceToJson, priceToTable } from "./format-price.js";
import { webOracleValueToJson, webOracleValueToText } from "./format-web-oracle-value.js";
import { REPLAY_USAGE } from "./help-text.js";
import { styleOf } from "./text-style.js";

/** Runs `provider replay`: computes a value again from its evidence. */
export async function replayEvidence(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseCommandLine(args, REPLAY_USAGE, { json: { type: "boolean" } });
  if (values.help === true) return console.log(REPLAY_USAGE);
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined)
    throw new ConfigError(`Give exactly one file of evidence.\n\n${REPLAY_USAGE}`);
  const again = await replay(file);
  process.exitCode = again.isSame ? 0 : 1;
  console.log(process.stdout.isTTY === true && values.json !== true ? toText(again) : toJson(again));
}

const nameOf = ({ record }: Replay) => keyToAscii(record.key as Hex) ?? record.key;

function toJson(again: Replay): string {
  const { record, decision, isSame, value } = again;
  const [name, at] = [nameOf(again), BigInt(record.at)];
  const shown =
    again.kind === "spot_price" ? priceToJson(name, value, at) : webOracleValueToJson({ ...again, name, at });
  const answer = {
    ...JSON.parse(shown),
    is_same: isSame,
    value: decision.value,
    signed: { outcome: record.outcome, value: record.value },
    round: record.timestamp,
    network_id: record.network_id,
  };
  return JSON.stringify(answer, null, 2);
}

function toText(again: Replay): string {
  const { record, decision, isSame, value } = again;
  const [name, at] = [nameOf(again), BigInt(record.at)];
  const style = styleOf(process.stdout, process.env);
  const shown =
    again.kind === "spot_price"
      ? priceToTable(name, value, at, style)
      : webOracleValueToText({ ...again, name, at }, style);
  const decided = `${record.outcome} ${record.value}`;
  const verdict = isSame
    ? `This is the decision for round ${record.timestamp}: ${decided}`
    : `This is NOT the decision for round ${record.timestamp}, which was ${decided}: the evidence gives ` +
      `${decision.outcome} ${decision.value}. If the two are equal, a source's part in the value differs.`;
  return `${shown}\n${verdict}`;
}
