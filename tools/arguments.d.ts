import type { ParseArgsConfig, parseArgs } from "node:util";

/** An option as `parseArgs` takes it. `range`: the smallest and largest value of an option that takes a whole number. */
export type CommandOption = NonNullable<ParseArgsConfig["options"]>[string] & { range?: [number, number] };

/** Reads the command line. It ends the process if help is asked for, or with code 2 if an argument is wrong. */
export declare function readArguments<const T extends Record<string, CommandOption>>(
  usage: string,
  options?: T,
  settings?: { allowPositionals?: boolean },
): Pick<ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>, "values" | "positionals">;
