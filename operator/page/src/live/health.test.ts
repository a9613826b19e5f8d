import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { describe, expect, test } from "vitest";
import { chainLiveness, countAnsweringProviders, isLate } from "./health.js";

const NOW = 1_790_000_000;

describe("a network", () => {
  const at = (network: Partial<NetworkOverview>) =>
    chainLiveness({ readable: true, ...network } as NetworkOverview, NOW);

  test("is live while it has blocks, however fast its clock is", () => {
    expect([at({ head_timestamp: NOW - 60 }), at({ head_timestamp: NOW + 500 })]).toEqual(["live", "live"]);
  });

  test("has stalled a minute after its last block", () => {
    expect(at({ head_timestamp: NOW - 61 })).toBe("stalled");
  });

  test("that cannot be read is not said to have stalled", () => {
    expect(at({ readable: false, head_timestamp: NOW - 61 })).toBe("unreadable");
    expect(at({ head_timestamp: null })).toBe("unreadable");
  });
});

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

test("a provider without an endpoint, or whose last answer could not be used, does not count as answering", () => {
  const provider = (url: string | null, failing: string | null) => ({ address: "0x", url, failing });
  const providers = [
    provider("http://a", null),
    provider("http://b", null),
    provider("http://c", "timeout"),
    provider(null, null),
  ];
  expect(countAnsweringProviders({ providers } as unknown as DatasetOverview)).toEqual({ needed: 3, answering: 2 });
});
