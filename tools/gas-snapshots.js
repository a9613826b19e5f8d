// Measures the gas of whole transactions and writes snapshots/. With --check, it only checks that they are up to date.

import { readArguments } from "./arguments.js";
import { runFoundry } from "./foundry.js";

const USAGE = `Usage: npm run gas [-- --check]

Measures the gas of whole transactions and writes it to snapshots/. Commit it together with the contracts.

  --check   write nothing; fail if the gas differs from snapshots/
  --help    show this text

Examples
  npm run gas
  npm run gas -- --check`;

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;
process.env.FORGE_SNAPSHOT_CHECK = String(isCheck);
// The tests deploy contracts of the folder by name, which `forge test` does not compile by itself.
process.exitCode =
  (await runFoundry("forge", ["build", "test/gas"])) ||
  (await runFoundry("forge", ["test", "--isolate", "--match-path", "test/gas/*"]));
