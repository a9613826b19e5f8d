import { setTimeOfDay } from "@dataset-oracle/tools/set-time-of-day";
import { afterEach, expect, it, vi } from "vitest";
import { startProvider } from "./support/test-provider.js";

afterEach(() => void vi.unstubAllGlobals());

it("limits its callers for as long as ever when the time of day is set an hour forth and back", async () => {
  const provider = await startProvider({ requestsPerMinute: 2 });
  setTimeOfDay(3_600_000);
  for (let request = 0; request < 2; request++) expect((await provider.ask({ network_id: 7 })).status).toBe(422);
  for (const aheadMs of [3_600_000, 0, -3_600_000, 0]) {
    setTimeOfDay(aheadMs);
    const { status, headers } = await provider.ask({ network_id: 7 });
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  }
  await provider.close();
});
