// A test suite that cannot fail proves nothing: this runs a forge test that must fail, the way `npm test` runs forge,
// and fails unless that was told by the exit code.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readCommand } from "./command.js";
import { ROOT } from "./foundry.js";

const USAGE = `Usage: npm run canary

Runs a forge test that must fail, and fails unless the exit code told so: a suite that cannot fail proves nothing.

  --help   this text

Example
  npm run canary`;

readCommand(USAGE);

const { status, stdout } = spawnSync(
  process.execPath,
  [join(ROOT, "tools", "foundry.js"), "forge", "test", "--root", join(ROOT, "tools", "canary")],
  { encoding: "utf8" },
);
if (!stdout.includes("[FAIL: as it must] test_canary_Fails()")) {
  console.error(`The canary did not run as it should:\n${stdout}`);
  process.exitCode = 1;
} else if (status === 0) {
  console.error("A failing forge test exits with 0 here, so that no forge test means anything.");
  process.exitCode = 1;
} else {
  console.log(`A failing forge test exits with ${status}.`);
}
