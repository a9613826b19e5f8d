// Kills a provider at random moments under load, as often as told (`--times N`), and checks that it never signs two
// different values for one round: provider/test/crash.test.ts, more often than the tests do it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { ROOT } from "./foundry.js";

const { values } = parseArgs({ options: { times: { type: "string", default: "1000" } } });
if (!/^[1-9]\d{0,5}$/.test(values.times)) throw new Error("Write --times N, with N from 1 to 999999.");

const vitest = spawn("npx", ["vitest", "run", "provider/test/crash.test.ts"], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, CRASHES: values.times },
});
const [code] = await once(vitest, "exit");
process.exitCode = code ?? 1;
