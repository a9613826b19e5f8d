import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { describe, expect, test } from "vitest";
import { chainLiveness } from "../src/live/chain-liveness.js";

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
