import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";

/** What a command is given. */
export interface CommandArguments {
  readonly subject: string;
  readonly configFile: string | null;
  readonly isJson: boolean;
}

/**
 * Reads the arguments of a command that takes one subject.
 *
 * @param usage Shown with what is wrong.
 * @returns Null when help was asked for.
 * @throws ConfigError
 */
export function readArguments(
  args: readonly string[],
  { usage, takesConfig }: { readonly usage: string; readonly takesConfig: boolean },
): CommandArguments | null {
  const { values, positionals } = parse(args, usage);
  if (values.help === true) return null;
  const [subject, extra] = positionals;
  if (subject === undefined || extra !== undefined) throw new ConfigError(`Name one thing.\n\n${usage}`);
  if (values.config !== undefined && !takesConfig) throw new ConfigError(`--config is not used here.\n\n${usage}`);
  return { subject, configFile: values.config ?? null, isJson: values.json === true };
}

function parse(args: readonly string[], usage: string) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { config: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
    });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${usage}`);
  }
}
