import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { START, startProvider, type TestProvider } from "./support/test-provider.js";

/*
 * What an owner goes through in the years after the start, as `provider/deploy/README.md` describes it. That nothing is
 * signed twice, also on a full disk or by two processes, is shown by `lease.test.ts`, `decider.test.ts` and `attack`.
 */

const exchanges = await startFakeExchanges();
afterAll(() => exchanges.close());

const newFolder = () => mkdtempSync(join(tmpdir(), "drill-"));

/** Starts a provider on a machine whose clock shows this time. */
async function live(folder: string, time: number): Promise<TestProvider> {
  const settings = { lease: join(folder, "lease"), redirectedOrigins: exchanges.redirectedOrigins };
  const provider = await startProvider(settings, { start: time });
  onTestFinished(() => provider.close());
  provider.clock.now = time;
  return provider;
}

/** Has a round signed at a time. */
async function signAt(provider: TestProvider, time: number, round = time) {
  provider.clock.now = time;
  exchanges.quote("100", "100", "100", time);
  const { status, body } = await provider.ask({ timestamp: round });
  return { status, code: body.code ?? body.outcome, detail: body.detail };
}
const SIGNED = { status: 200, code: "OK" };

it("a provider that is restored from a backup that is an hour old signs nothing twice, and says until when", async () => {
  const folder = newFolder();
  const first = await live(folder, START);
  cpSync(join(folder, "lease"), join(folder, "backup"), { recursive: true });
  const lost = START + 3_600;
  expect(await signAt(first, lost)).toMatchObject(SIGNED);
  await first.close();
  rmSync(join(folder, "lease"), { recursive: true });
  cpSync(join(folder, "backup"), join(folder, "lease"), { recursive: true });

  // The disk is back a second later.
  const second = await live(folder, lost + 1);
  const detail = expect.stringContaining(`Ask for a round after ${lost + 3} `);
  for (const round of [lost - 2, lost, lost + 3]) {
    expect(await signAt(second, lost + 1, round)).toEqual({ status: 503, code: "round_forgotten", detail });
  }
  const ready = await fetch(`${second.url}/ready`);
  const silent = `no new round up to ${lost + 3} `;
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining(silent)]);
  const logged = { level: 30, msg: expect.stringContaining(`${silent}is signed, for 2 s`) };
  expect(second.logs).toContainEqual(expect.objectContaining(logged));
  expect(await signAt(second, lost + 6, lost + 4)).toMatchObject(SIGNED);
  expect((await fetch(`${second.url}/ready`)).status).toBe(200);
});

it("a provider whose clock was a day ahead warns that it is silent until then", async () => {
  const folder = newFolder();
  await (await live(folder, START + 86_400)).close();
  const provider = await live(folder, START);
  const msg = expect.stringContaining(`no new round up to ${START + 86_402} is`);
  expect(provider.logs).toContainEqual(expect.objectContaining({ level: 40, msg }));
  expect(await signAt(provider, START + 100)).toMatchObject({ status: 503, code: "round_forgotten" });
});
