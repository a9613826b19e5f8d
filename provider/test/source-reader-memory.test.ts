import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const READER = fileURLToPath(new URL("../dist/source/source-reader.js", import.meta.url));

/** Reads 60 different URLs in one second, each of which answers a megabyte that becomes many objects. */
const ATTACK = `
  const { SourceReader } = await import(${JSON.stringify(READER)});
  const text = "[" + "{},".repeat(340_000) + "0]";
  const answer = { status: 200, contentType: "application/json", retryAfter: null };
  // Each answer is a string of its own.
  const egress = { fetchText: async () => ({ ok: true, value: { ...answer, text: Buffer.from(text).toString() } }) };
  const reader = new SourceReader({ egress, timeoutMs: 10_000, hasReserve: false, now: () => 0n });
  const request = { method: "GET", rateLimit: null, source: { name: "a", findError: () => null } };
  for (let i = 0; i < 60; ++i) {
    const reading = await reader.read({ ...request, url: "https://api.example.com/" + i }, false);
    if (!reading.ok) throw new Error(reading.error.detail);
  }
  console.log("alive");
`;

it("a source reader manages with a heap of 1,000 MiB, though each request has a large answer of its own", () => {
  const args = ["--max-old-space-size=1000", "--input-type=module", "--eval", ATTACK];
  expect(execFileSync(process.execPath, args, { stdio: "pipe", encoding: "utf8" })).toBe("alive\n");
});
