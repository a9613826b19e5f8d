import { type ParseArgsConfig, parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";

type Help = { readonly help: { readonly type: "boolean" } };

/**
 * Parses a command's arguments; every command has `--help` too.
 *
 * @param usage Shown after what is wrong.
 * @throws ConfigError
 */
export function parseCommandLine<T extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  usage: string,
  options: T,
): ReturnType<typeof parseArgs<{ allowPositionals: true; options: T & Help }>> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...options, help: { type: "boolean" } } });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${usage}`);
  }
}
