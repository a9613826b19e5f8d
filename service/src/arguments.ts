import { parseArgs } from "node:util";
import { ConfigError } from "./config.js";

/** What a service's process is asked to do. */
export type Command = { readonly name: "help" } | { readonly name: "check" | "serve"; readonly configFile: string };

/**
 * Reads the command line of a service: `--config FILE`, `--check-config`, `--help`.
 *
 * @param usage Shown with what is wrong.
 * @throws ConfigError
 */
export function readCommand(args: readonly string[], usage: string): Command {
  const { config, help, "check-config": isCheck } = parse(args, usage);
  if (help === true) return { name: "help" };
  if (config === undefined) throw new ConfigError(`Name the configuration: --config FILE.\n\n${usage}`);
  return { name: isCheck === true ? "check" : "serve", configFile: config };
}

function parse(args: readonly string[], usage: string) {
  try {
    return parseArgs({
      args: [...args],
      options: { config: { type: "string" }, "check-config": { type: "boolean" }, help: { type: "boolean" } },
    }).values;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // An argument without an option may be anything, a password too; a short word is a command that there is not.
    const isToldAsItIs =
      code !== "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL" || /^Unexpected argument '[a-z]{1,8}'/.test(message);
    const problem = isToldAsItIs ? message : "There is an argument without an option.";
    throw new ConfigError(`${problem}\n\n${usage}`);
  }
}
