import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { START, startProvider } from "./support/test-provider.js";

// That nothing is signed twice, whatever an owner goes through, is shown by `lease.test.ts`, `decider.test.ts` and
// `attack`.
it.each([
  ["starts again", -1, 30],
  ["had a clock that was a day ahead", 86_400, 40],
])("a provider that %s says until when it is silent", async (_, ahead, level) => {
  const exchanges = await startFakeExchanges();
  onTestFinished(() => exchanges.close());
  const lease = join(mkdtempSync(join(tmpdir(), "drill-")), "lease");
  const { redirectedOrigins } = exchanges;
  await (await startProvider({ lease, redirectedOrigins }, { start: START + ahead })).close();
  const provider = await startProvider({ lease, redirectedOrigins }, { start: START });
  onTestFinished(() => provider.close());
  const until = Math.max(START, START + ahead) + 2;
  const silent = `no new round up to ${until} `;
  expect(provider.logs).toContainEqual(expect.objectContaining({ level, msg: expect.stringContaining(silent) }));

  const readiness = async () => {
    const response = await fetch(`${provider.url}/ready`);
    return [response.status, await response.text()];
  };
  provider.clock.now = until - 1;
  expect(await readiness()).toEqual([503, expect.stringContaining(silent)]);
  const refusal = { code: "round_forgotten", detail: expect.stringContaining(`Ask for a round after ${until} `) };
  for (const timestamp of [until - 3, until]) {
    expect(await provider.ask({ timestamp })).toMatchObject({ status: 503, body: refusal });
  }
  provider.clock.now = until + 3;
  exchanges.quote("100", "100", "100", until);
  expect((await readiness())[0]).toBe(200);
  expect((await provider.ask({ timestamp: until + 1 })).body.outcome).toBe("OK");
});
