// Kills a provider at random moments under load, as often as told (`--times N`), and checks that it never signs two
// different values for one round: provider/test/crash.test.ts, more often than the tests do it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readCommand } from "./command.js";
import { ROOT } from "./foundry.js";

const USAGE = `Usage: npm run crash [-- --times N]

Kills a provider at random moments under load, and checks that it never signs two different values for one round.
After every hundredth kill it says how far it is.

  --times N   how often (default: 1000)
  --help      this text

Examples
  npm run crash -- --times 100`;

const { values } = readCommand(USAGE, { times: { type: "string", default: "1000", number: [1, 999_999] } });

const vitest = spawn("npx", ["vitest", "run", "provider/test/crash.test.ts", "--disable-console-intercept"], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, CRASHES: values.times },
});
const [code] = await once(vitest, "exit");
process.exitCode = code ?? 1;
