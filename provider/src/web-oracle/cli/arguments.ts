import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { USAGE } from "./help-text.js";

const OPTIONS = {
  override: { type: "string", multiple: true },
  config: { type: "string" },
  deployment: { type: "string" },
  "rpc-url": { type: "string" },
  from: { type: "string" },
  "dry-run": { type: "boolean" },
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
  /** The values of the spec's variables; for `publish`, the files of further specs. */
  readonly args: readonly string[];
  readonly options: ReturnType<typeof parseCommandLine<typeof OPTIONS>>["values"];
}

/**
 * Reads the command line.
 *
 * @returns Null when it asks for help.
 * @throws ConfigError
 */
export function readCliCommand(argv: readonly string[]): CliCommand | null {
  const { values: options, positionals } = parseCommandLine(argv, USAGE, OPTIONS);
  if (options.help === true) return null;
  const [name, specFile, ...args] = positionals;
  if (name === undefined) throw new ConfigError(`Name a command.\n\n${USAGE}`);
  if (!isCommand(name)) {
    const names = Object.keys(COMMANDS).join(", ");
    throw new ConfigError(`There is no command "${name}". The commands are: ${names}.\n\n${USAGE}`);
  }
  if (specFile === undefined) throw new ConfigError(`Name the file of the spec: web-oracle ${name} SPEC.\n\n${USAGE}`);
  const allowed: readonly string[] = COMMANDS[name];
  const other = Object.keys(options).find((option) => !allowed.includes(option));
  if (other !== undefined) throw new ConfigError(`${name} has no option --${other}.\n\n${USAGE}`);
  if (args.length > 0 && name === "validate") {
    throw new ConfigError(`validate takes no arguments after the spec: it applies to all of its keys.\n\n${USAGE}`);
  }
  return { name, specFile, args, options };
}

const isCommand = (name: string): name is CliCommand["name"] => Object.hasOwn(COMMANDS, name);
