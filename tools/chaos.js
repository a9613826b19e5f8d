// Everything that can fail around an operator does, again and again (`--requests N --keys N --seed N`), and it must lose
// nothing: operator/test/chaos.test.ts, longer than the tests do it. What fails, and when, comes from the seed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readCommand } from "./command.js";
import { ROOT } from "./foundry.js";

const USAGE = `Usage: npm run chaos [-- --requests N --keys N --seed N]

Lets everything around an operator fail, again and again, on a chain of its own, and checks that the operator loses
nothing: endpoints that drop, lie and stall, reorganisations, fee spikes, kills. The defaults take about an hour.

  --requests N   how many data requests are made, from 50 (default: 10000)
  --keys N       on how many keys (default: 200)
  --seed N       where the choice of what fails, and when, begins (default: 1)
  --help         this text

Examples
  npm run chaos -- --requests 500 --keys 20
  npm run chaos -- --seed 7`;

const { values } = readCommand(USAGE, {
  requests: { type: "string", default: "10000", number: [50, 999_999] },
  keys: { type: "string", default: "200", number: [1, 999_999] },
  seed: { type: "string", default: "1", number: [1, 999_999] },
});
console.log(
  `${values.requests} requests on ${values.keys} keys, seed ${values.seed}. Every few thousand it says how far it is.`,
);

const vitest = spawn("npx", ["vitest", "run", "operator/test/chaos.test.ts", "--disable-console-intercept"], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, CHAOS_REQUESTS: values.requests, CHAOS_KEYS: values.keys, CHAOS_SEED: values.seed },
});
const [code] = await once(vitest, "exit");
process.exitCode = code ?? 1;
