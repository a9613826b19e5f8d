#!/usr/bin/env node
import { runMain } from "@dataset-oracle/service/process/lifecycle";
import { adviseOnSpec } from "./advise.js";
import { readCliCommand } from "./arguments.js";
import { describeKey, describeSpec } from "./describe.js";
import { loadSpec } from "./load-spec.js";
import { publish } from "./publish.js";
import { trySpec } from "./try.js";
import { USAGE } from "./usage.js";

await runMain(async () => {
  const command = readCliCommand(process.argv.slice(2));
  if (command === null) return console.log(USAGE);
  if (command.name === "advise") return adviseOnSpec(command);
  const spec = loadSpec(command.specFile ?? "");
  switch (command.name) {
    case "validate":
      return console.log(describeSpec(spec));
    case "key":
      return console.log(describeKey(spec, command.args));
    case "try":
      return trySpec(spec, command);
    case "publish":
      return console.log(await publish([spec, ...command.args.map(loadSpec)], command.options, process.env));
  }
});
