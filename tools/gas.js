// Measures the gas of whole transactions and writes snapshots/; with --check, only tells whether it has changed.

import { runFoundry } from "./foundry.js";

const isCheck = process.argv.includes("--check");
process.env.FORGE_SNAPSHOT_CHECK = String(isCheck);
process.exitCode = await runFoundry("forge", ["test", "--isolate", "--match-path", "test/gas/*"]);
