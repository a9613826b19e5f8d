import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { describe, expect, test } from "vitest";
import { isLate } from "../src/live/lateness.js";

const NOW = 1_790_000_000;

describe("a value", () => {
  const aged = (age: number, heartbeat: number | null) =>
    isLate({ timestamp: NOW - age, heartbeat_seconds: heartbeat } as ServedPoint, NOW);

  test("is late when it is half a heartbeat older than its heartbeat", () => {
    expect([aged(45, 30), aged(46, 30)]).toEqual([false, true]);
  });

  test("that is updated on request, or was never stored, is not late", () => {
    expect([aged(1_000_000, null), aged(NOW, 30)]).toEqual([false, false]);
  });
});
