import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const MEMORY = new URL("../dist/decisions/decision-memory.js", import.meta.url);

/** Fills a memory with decisions about keys of 256 bytes, and prints how many bytes of the heap each takes up. */
const PROGRAM = `
  import { randomBytes } from "node:crypto";
  import { DecisionMemory } from ${JSON.stringify(MEMORY.href)};
  const memory = new DecisionMemory({ hasReserve: false });
  const hex = (bytes) => "0x" + randomBytes(bytes).toString("hex");
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let round = 0n; round < 400n; round++) {
    const entry = () => [\`42/0x5FbDB2315678afecb367f032d93F642f64180aa3/\${hex(256)}\`, { outcome: "OK", value: hex(32) }];
    memory.record(round, new Map(Array.from({ length: 256 }, entry)));
  }
  gc();
  console.log((process.memoryUsage().heapUsed - before) / memory.count);
`;

test("a decision takes up 150 bytes at most, however long its key is", () => {
  const bytes = execFileSync(process.execPath, ["--expose-gc", "--input-type=module", "--eval", PROGRAM]);
  expect(Number(String(bytes))).toBeLessThan(150);
  expect(Number(String(bytes))).toBeGreaterThan(50);
});
