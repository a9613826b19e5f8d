import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";
import { USAGE } from "./usage.js";

const OPTIONS = {
  override: { type: "string", multiple: true },
  config: { type: "string" },
  deployment: { type: "string" },
  "rpc-url": { type: "string" },
  from: { type: "string" },
  "dry-run": { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** The options of each command. */
const COMMANDS = {
  validate: [],
  try: ["override", "config"],
  key: [],
  publish: ["deployment", "rpc-url", "from", "dry-run"],
} as const satisfies Record<string, readonly (keyof typeof OPTIONS)[]>;

export interface CliCommand {
  readonly name: keyof typeof COMMANDS;
  readonly specFile: string;
  readonly args: readonly string[];
  readonly options: ReturnType<typeof parse>["values"];
}

/**
 * Reads the command line.
 *
 * @returns Null when help was asked for.
 * @throws ConfigError
 */
export function readCliCommand(argv: readonly string[]): CliCommand | null {
  const { values, positionals } = parse(argv);
  if (values.help === true) return null;
  const [name, specFile, ...args] = positionals;
  if (name === undefined || !isCommand(name)) throw new ConfigError(`Name a command.\n\n${USAGE}`);
  if (specFile === undefined) throw new ConfigError(`Name the file of the spec: web-oracle ${name} SPEC.\n\n${USAGE}`);
  const allowed: readonly string[] = COMMANDS[name];
  const other = Object.keys(values).find((option) => !allowed.includes(option));
  if (other !== undefined) throw new ConfigError(`${name} has no option --${other}.\n\n${USAGE}`);
  if (args.length > 0 && name !== "try" && name !== "key") {
    throw new ConfigError(`${name} takes no arguments after the spec: it is for all of its keys.\n\n${USAGE}`);
  }
  return { name, specFile, args, options: values };
}

const isCommand = (name: string): name is CliCommand["name"] => Object.hasOwn(COMMANDS, name);

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n\n${USAGE}`);
  }
}
