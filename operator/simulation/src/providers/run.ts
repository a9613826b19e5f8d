/** Simulates one seed of providers, as `../run.ts` does one of operators. */

import "../virtual-time.js";
import "./file-system.js";
import { closeSync, openSync, writeSync } from "node:fs";
import type { Plan } from "../simulate.js";

const { simulateProviders } = await import("./simulate.js");
const { traceTo, ...plan } = JSON.parse(process.argv[2] ?? "{}") as Plan & { readonly traceTo?: string };
const file = traceTo === undefined ? null : openSync(traceTo, "w");
const outcome = await simulateProviders(plan, (line) => {
  if (file !== null) writeSync(file, `${line}\n`);
});
if (file !== null) closeSync(file);
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));
