import { ok } from "@dataset-oracle/protocol/result";
import { describe, expect, it } from "vitest";
import { newReadingCache } from "./source-reader.js";

const kept = (length: number) => ({ second: 7n, reading: ok({ text: "x".repeat(length) }) });

describe("readings", () => {
  it("are forgotten after a few seconds, even if nobody asks for them", async () => {
    const readings = newReadingCache(10_000);
    readings.set("a", kept(10));
    expect(readings.size).toBe(1);
    await expect.poll(() => readings.size, { timeout: 10_000 }).toBe(0);
  });

  it("are no more than fit: the longest unused go first, and one that is too large is not kept", () => {
    const readings = newReadingCache(10_000);
    for (const id of ["a", "b", "c"]) readings.set(id, kept(3_000));
    expect(readings.get("a")).toBeUndefined();
    expect(readings.get("c")).toEqual(kept(3_000));
    readings.set("d", kept(10_000));
    expect(readings.get("d")).toBeUndefined();
  });
});
