#!/usr/bin/env node
import { runMain } from "@dataset-oracle/service/process/run-main";
import { readCliCommand } from "./arguments.js";
import { USAGE } from "./help-text.js";

// A command loads only what it needs: loading everything takes a second.
await runMain(async () => {
  const command = readCliCommand(process.argv.slice(2));
  if (command === null) return console.log(USAGE);
  const { name, specFile, args, options } = command;
  const { loadSpec } = await import("./spec-file.js");
  const spec = loadSpec(specFile);
  switch (name) {
    case "validate":
      return console.log((await import("./validate.js")).describeSpec(spec));
    case "key":
      return console.log((await import("./key.js")).describeKey(spec, args));
    case "try":
      return (await import("./try.js")).trySpec(spec, command);
    case "publish": {
      const { publish } = await import("./publish.js");
      return console.log(await publish([spec, ...args.map(loadSpec)], options, process.env));
    }
  }
});
