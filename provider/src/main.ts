#!/usr/bin/env node
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { runMain } from "@dataset-oracle/service/process/run-main";
import * as usages from "./cli/usage.js";

interface Subcommand {
  /** The text of `--help`. */
  readonly usage: string;
  /** Loads the command alone, because loading everything takes a second. */
  readonly load: () => Promise<(args: readonly string[]) => void | Promise<void>>;
}

const COMMANDS: ReadonlyMap<string, Subcommand> = new Map([
  ["serve", { usage: usages.SERVE_USAGE, load: async () => (await import("./cli/serve.js")).serveReports }],
  ["check", { usage: usages.CHECK_USAGE, load: async () => (await import("./cli/serve.js")).checkConfiguration }],
  ["try", { usage: usages.TRY_USAGE, load: async () => (await import("./cli/try.js")).tryValue }],
  ["validate", { usage: usages.VALIDATE_USAGE, load: async () => (await import("./cli/spec-file.js")).validateSpec }],
  ["key", { usage: usages.KEY_USAGE, load: async () => (await import("./cli/spec-file.js")).printKey }],
  ["publish", { usage: usages.PUBLISH_USAGE, load: async () => (await import("./cli/publish.js")).publishSpecs }],
  ["announce", { usage: usages.ANNOUNCE_USAGE, load: async () => (await import("./cli/announce.js")).announceUrl }],
  ["replay", { usage: usages.REPLAY_USAGE, load: async () => (await import("./cli/replay.js")).replayEvidence }],
]);

await runMain(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === "--help") return console.log(usages.USAGE);
  if (name === undefined) throw new ConfigError(`Name a command.\n\n${usages.USAGE}`);
  const command = COMMANDS.get(name);
  if (command === undefined) {
    // Only an option is repeated: anything else could be a password.
    const what = /^--[a-z-]+$/.test(name) ? `${name} is not a command` : "There is no such command";
    throw new ConfigError(`${what}. The commands are: ${[...COMMANDS.keys()].join(", ")}.\n\n${usages.USAGE}`);
  }
  if (args.includes("--help")) return console.log(command.usage);
  await (await command.load())(args);
});
