import { keyToAscii } from "@dataset-oracle/protocol/key";
import type { Hex } from "viem";
import { type Replay, replay } from "../evidence/replay.js";
import { readArguments } from "./arguments.js";
import { toJson, toTable } from "./price-table.js";
import { styleOf } from "./terminal.js";
import { REPLAY_USAGE } from "./usage.js";
import { webValueToJson, webValueToText } from "./web-value.js";

/** `provider replay`: computes a value again from its evidence. */
export async function replayEvidence(args: readonly string[]): Promise<void> {
  const given = readArguments(args, { usage: REPLAY_USAGE, takesConfig: false });
  if (given === null) return console.log(REPLAY_USAGE);
  const again = await replay(given.subject);
  const { record, outcome, value, isSame } = again;
  process.exitCode = isSame ? 0 : 1;
  if (process.stdout.isTTY !== true || given.isJson) {
    const { outcome: signed, value: signedValue } = record;
    const answer = {
      ...JSON.parse(json(again)),
      is_same: isSame,
      value,
      signed: { outcome: signed, value: signedValue },
    };
    return console.log(JSON.stringify({ ...answer, round: record.timestamp, network_id: record.network_id }, null, 2));
  }
  console.log(text(again));
  console.log(
    isSame
      ? `The same as what was decided for round ${record.timestamp}: ${record.outcome} ${record.value}`
      : `NOT what was decided for round ${record.timestamp}: that was ${record.outcome} ${record.value}, and this is ${outcome} ${value}`,
  );
}

const nameOf = ({ record }: Replay) => keyToAscii(record.key as Hex) ?? record.key;

function json(again: Replay): string {
  const [name, at] = [nameOf(again), BigInt(again.record.at)];
  return again.kind === "spot_price" ? toJson(name, again.price, at) : webValueToJson({ ...again, name, at });
}

function text(again: Replay): string {
  const [name, at] = [nameOf(again), BigInt(again.record.at)];
  if (again.kind === "spot_price") return toTable(name, again.price, at, !process.env.NO_COLOR);
  return webValueToText({ ...again, name, at }, styleOf(process.stdout, process.env));
}
