import { ok } from "@dataset-oracle/protocol/result";
import { describe, expect, it } from "vitest";
import { ReadingCache } from "./reading-cache.js";
import { failed } from "./source-failure.js";

const answer = (length: number) => ok({ document: null, text: "x".repeat(length) });

describe("readings", () => {
  it("are kept while their second lasts, failures too", () => {
    let second = 7n;
    const readings = new ReadingCache(10_000, () => second);
    readings.keep("a", answer(10));
    readings.keep("b", failed("timeout", "no answer"));
    expect(readings.get("a")).toMatchObject({ ok: true });
    expect(readings.get("b")).toMatchObject({ ok: false });
    second = 8n;
    expect(readings.get("a")).toBeUndefined();
  });

  it("are forgotten after a few seconds, even if nobody asks for them", async () => {
    const readings = new ReadingCache(10_000, () => 7n);
    readings.keep("a", answer(10));
    expect(readings.count).toBe(1);
    await expect.poll(() => readings.count, { timeout: 10_000 }).toBe(0);
  });

  it("are no more than fit: the longest unused go first, and one that is too large is not kept", () => {
    const readings = new ReadingCache(10_000, () => 7n);
    for (const id of ["a", "b", "c"]) readings.keep(id, answer(3_000));
    expect(readings.get("a")).toBeUndefined();
    expect(readings.get("c")).toMatchObject({ ok: true });
    readings.keep("d", answer(10_000));
    expect(readings.get("d")).toBeUndefined();
  });
});
