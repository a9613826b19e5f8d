import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";

export const USAGE = `Usage: provider --config FILE [--check-config]

  --config FILE   the configuration, in JSON; its settings are in src/config.ts
  --check-config  check all that a start needs, and end
  --help          show this

The signing key comes from the environment: PROVIDER_PRIVATE_KEY_FILE, the path of a file with it, or
PROVIDER_PRIVATE_KEY, the key itself.`;

/** What the process is asked to do. */
export type Command = { readonly name: "help" } | { readonly name: "check" | "serve"; readonly configFile: string };

/** @throws ConfigError */
export function parseArguments(args: readonly string[]): Command {
  const { config, help, "check-config": check } = parse(args);
  if (help === true) return { name: "help" };
  if (config === undefined) throw new ConfigError(`--config is missing.\n\n${USAGE}`);
  return { name: check === true ? "check" : "serve", configFile: config };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { config: { type: "string" }, "check-config": { type: "boolean" }, help: { type: "boolean" } },
    });
    return values;
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${USAGE}`);
  }
}
