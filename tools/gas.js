// Measures the gas of whole transactions and writes snapshots/; with --check, only tells whether it has changed.

import { readCommand } from "./command.js";
import { runFoundry } from "./foundry.js";

const USAGE = `Usage: npm run gas [-- --check]

Measures the gas of whole transactions, and writes it into snapshots/; commit that with what changed it.

  --check   write nothing; fail if snapshots/ is not what is measured
  --help    this text

Examples
  npm run gas
  npm run gas -- --check`;

const isCheck = readCommand(USAGE, { check: { type: "boolean" } }).values.check === true;
process.env.FORGE_SNAPSHOT_CHECK = String(isCheck);
process.exitCode = await runFoundry("forge", ["test", "--isolate", "--match-path", "test/gas/*"]);
