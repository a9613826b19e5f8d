/** Simulates one seed, as a process of its own: `main.ts` starts it. Its argument is the plan, its output the outcome. */

import "./virtual-time.js";
import "./shared-recoveries.js";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import type { Plan } from "./simulate.js";

const { simulate } = await import("./simulate.js");
const { recordChain } = await import("./recorded-chain.js");
type RecordFiles = { readonly traceTo?: string; readonly recordTo?: string };
const { traceTo, recordTo, ...plan } = JSON.parse(process.argv[2] ?? "{}") as Plan & RecordFiles;
const file = traceTo === undefined ? null : openSync(traceTo, "w");
const outcome = await simulate(
  plan,
  (line) => {
    if (file !== null) writeSync(file, `${line}\n`);
  },
  (world) => {
    if (recordTo !== undefined) writeFileSync(recordTo, JSON.stringify(recordChain(world)));
  },
);
if (file !== null) closeSync(file);
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));
