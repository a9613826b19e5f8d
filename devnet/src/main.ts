#!/usr/bin/env node
import { runMain } from "@dataset-oracle/service/process/run-main";
import { requireFreePorts } from "./needed-ports.js";
import { neededPorts, readOptions } from "./options.js";

await runMain(async () => {
  const options = readOptions();
  await requireFreePorts(neededPorts(options));
  // Loaded here, because it takes longer than to refuse an option.
  const [{ createDevnetContext }, { start }] = await Promise.all([import("./devnet-context.js"), import("./start.js")]);
  const devnet = createDevnetContext(options);
  devnet.components.endWithTerminal();
  await start(devnet).catch((error: Error) => devnet.components.end(1, error.message));
});
