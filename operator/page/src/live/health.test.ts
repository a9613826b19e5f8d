import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { expect, test } from "vitest";
import { chainLiveness, countAnsweringProviders, isLate } from "./health.js";

const NOW = 1_790_000_000;

test.each([
  ["live while it has blocks", { head_timestamp: NOW - 60 }, "live"],
  ["live however fast its clock is", { head_timestamp: NOW + 500 }, "live"],
  ["stalled a minute after its last block", { head_timestamp: NOW - 61 }, "stalled"],
  ["unreadable, and not said to have stalled", { readable: false, head_timestamp: NOW - 61 }, "unreadable"],
  ["unreadable before its first block is seen", { head_timestamp: null }, "unreadable"],
] as const)("a network is %s", (_, network, liveness) => {
  expect(chainLiveness({ readable: true, ...network } as NetworkOverview, NOW)).toBe(liveness);
});

test.each([
  ["within one and a half heartbeats", 45, 30, false],
  ["after one and a half heartbeats", 46, 30, true],
  ["that is updated on request", 1_000_000, null, false],
  ["that was never stored", NOW, 30, false],
])("whether a value %s (%s s) is late, with a heartbeat of %s s: %s", (_, age, heartbeat_seconds, late) => {
  expect(isLate({ timestamp: NOW - age, heartbeat_seconds } as ServedPoint, NOW)).toBe(late);
});

test("a provider without an endpoint, or whose last answer could not be used, does not count as answering", () => {
  const provider = (url: string | null, failing: string | null) => ({ address: "0x", url, failing });
  const working = [provider("http://a", null), provider("http://b", null)];
  const providers = [...working, provider("http://c", "timeout"), provider(null, null)];
  expect(countAnsweringProviders({ providers } as unknown as DatasetOverview)).toEqual({ needed: 3, answering: 2 });
});
