import { type ParseArgsConfig, parseArgs } from "node:util";
import { ConfigError } from "../config/config-error.js";

/** The task that the command line gives to a service. */
type Command = { readonly name: "help" } | { readonly name: "check" | "serve"; readonly configFile: string };

/**
 * Reads the command line of a service: `--config FILE`, `--check-config`, `--help`.
 *
 * @param usage Follows an error.
 * @throws ConfigError
 */
export function readCommand(args: readonly string[], usage: string): Command {
  const options = { config: { type: "string" }, "check-config": { type: "boolean" } } as const;
  const { values, positionals } = parseCommandLine(args, usage, options);
  if (values.help) return { name: "help" };
  const configFile = requireConfigFile(values.config, positionals, usage);
  return { name: values["check-config"] ? "check" : "serve", configFile };
}

/**
 * Returns the value of `--config`, of a command that takes only options.
 *
 * @throws ConfigError when it is missing, or there are other arguments.
 */
export function requireConfigFile(
  configFile: string | undefined,
  positionals: readonly string[],
  usage: string,
): string {
  // The argument is not repeated: it could be a password.
  if (positionals.length > 0)
    throw new ConfigError(`An argument belongs to no option. Write each value after its option.\n\n${usage}`);
  if (configFile === undefined) throw new ConfigError(`The configuration is missing. Add --config FILE.\n\n${usage}`);
  return configFile;
}

type Help = { readonly help: { readonly type: "boolean" } };

/**
 * Parses the arguments of a command. `--help` is an option of every command.
 *
 * @param usage Follows an error.
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
    // For an unknown option, Node goes on with advice on positional arguments.
    throw new ConfigError(`${(error as Error).message.replace(/ To specify a positional [\s\S]*/, "")}\n\n${usage}`);
  }
}
