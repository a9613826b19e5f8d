import { setTimeOfDay } from "@dataset-oracle/tools/set-time-of-day";
import { afterEach, expect, test, vi } from "vitest";
import { startProvider } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const { exchanges, provider: signing } = await useExchangesAndProvider("100", "100", "100");

afterEach(() => void vi.unstubAllGlobals());

test("limits its callers for as long as ever when the time of day is set an hour forth and back", async () => {
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

test("signs again at once when its clock is right, and never two contents for one round", async () => {
  const { clock, ask } = signing;
  const before = await ask();
  clock.now += 3_600;
  const ahead = await ask();
  clock.now -= 3_600;
  clock.now += 1;
  exchanges.quote("200", "200", "200", clock.now);
  const after = await ask();
  expect([before.status, ahead.status, after.status]).toEqual([200, 200, 200]);
  expect(after.body.value).not.toBe(before.body.value);
  clock.now -= 3_600;
  expect((await ask()).status).toBe(503);
  clock.now += 3_600;
  // While the clock was ahead, this one was forgotten.
  expect((await ask({ timestamp: before.body.timestamp })).body.code).toBe("round_forgotten");
  for (const { body } of [ahead, after]) {
    const { signature } = (await ask({ timestamp: body.timestamp })).body;
    expect(signature).toBe(body.signature);
  }
  clock.now += 1;
  expect((await ask()).status).toBe(200);
});
