// Everything that can fail around an operator does, again and again (`--requests N --keys N --seed N`), and it must lose
// nothing: operator/test/chaos.test.ts, longer than the tests do it. What fails, and when, comes from the seed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { ROOT } from "./foundry.js";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "10000" },
    keys: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`Write --${name} N, with N from 1 to 999999.`);
}
if (Number(values.requests) < 50) throw new Error("Write --requests N, with N from 50.");

const vitest = spawn("npx", ["vitest", "run", "operator/test/chaos.test.ts", "--disable-console-intercept"], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, CHAOS_REQUESTS: values.requests, CHAOS_KEYS: values.keys, CHAOS_SEED: values.seed },
});
const [code] = await once(vitest, "exit");
process.exitCode = code ?? 1;
