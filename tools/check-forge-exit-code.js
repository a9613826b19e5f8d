// Checks that a failing forge test is noticed: runs a test that must fail in the way that `npm test` runs forge, and
// fails unless the exit code reports it.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readArguments } from "./arguments.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run check:forge-exit-code

Runs a forge test that must fail, and fails unless the exit code reports it: otherwise a green test run proves nothing.

  --help   show this text

Example
  npm run check:forge-exit-code`;

readArguments(USAGE);

const { status, stdout } = spawnSync(
  process.execPath,
  [join(ROOT, "tools", "foundry.js"), "forge", "test", "--root", join(ROOT, "tools", "failing-forge-project")],
  { encoding: "utf8" },
);
if (!stdout.includes("[FAIL: as it must] test_alwaysFails()")) {
  console.error(`The test that must fail did not run:\n${stdout}`);
  process.exitCode = 1;
} else if (status === 0) {
  console.error(
    "A failing forge test exits with 0, so a green result proves nothing. Run forge through tools/foundry.js.",
  );
  process.exitCode = 1;
} else {
  console.log(`A failing forge test exits with ${status}.`);
}
