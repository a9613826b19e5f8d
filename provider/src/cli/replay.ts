import { keyToAscii } from "@dataset-oracle/protocol/key";
import type { Hex } from "viem";
import { replay } from "../evidence/replay.js";
import { REPLAY_USAGE } from "../usage.js";
import { readArguments } from "./arguments.js";
import { toJson, toTable } from "./price-table.js";

/** `provider replay`: computes a value again from its evidence. */
export async function replayEvidence(args: readonly string[]): Promise<void> {
  const given = readArguments(args, { usage: REPLAY_USAGE, takesConfig: false });
  if (given === null) return console.log(REPLAY_USAGE);
  const { record, price, outcome, value, isSame } = await replay(given.subject);
  process.exitCode = isSame ? 0 : 1;
  const key = keyToAscii(record.key as Hex) ?? record.key;
  const at = BigInt(record.at);
  if (process.stdout.isTTY !== true || given.isJson) {
    const { outcome: signed, value: signedValue } = record;
    const again = {
      ...JSON.parse(toJson(key, price, at)),
      is_same: isSame,
      value,
      signed: { outcome: signed, value: signedValue },
    };
    return console.log(JSON.stringify({ ...again, round: record.timestamp, network_id: record.network_id }, null, 2));
  }
  console.log(toTable(key, price, at, !process.env.NO_COLOR));
  console.log(
    isSame
      ? `The same as what was decided for round ${record.timestamp}: ${record.outcome} ${record.value}`
      : `NOT what was decided for round ${record.timestamp}: that was ${record.outcome} ${record.value}, and this is ${outcome} ${value}`,
  );
}
