import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";

export const USAGE = `Usage: operator --config FILE [--check-config]

  --config FILE    the configuration, in JSON
  --check-config   check the configuration, the files it names and the keys, then end: 0 if all is well, else 2
  --help           this text

Environment
  OPERATOR_PRIVATE_KEY_FILE, OPERATOR_PRIVATE_KEY
                   the key of the account that broadcasts, in a file or as it is
  OPERATOR_PRIVATE_KEY_<chainId>_FILE, OPERATOR_PRIVATE_KEY_<chainId>
                   the same for one network only; a network without a key answers only "broadcast": false`;

export type Arguments =
  | { readonly help: true }
  | { readonly help: false; readonly config: string; readonly isCheck: boolean };

/** @throws ConfigError */
export function readArguments(args: readonly string[]): Arguments {
  const { help, config, "check-config": isCheck } = parse(args);
  if (help) return { help };
  if (config === undefined) throw new ConfigError(`Name the configuration: --config FILE.\n\n${USAGE}`);
  return { help: false, config, isCheck: isCheck ?? false };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { config: { type: "string" }, "check-config": { type: "boolean" }, help: { type: "boolean" } },
    }).values;
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${USAGE}`);
  }
}
