import { mkdtempSync, readdirSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import {
  askForReport,
  type ProviderProcess,
  spawnProvider,
  untilListening,
  untilReady,
  writeConfig,
} from "./support/provider-process.js";
import { PRIVATE_KEY, START, startProvider } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

let exchanges: FakeExchanges;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
});
afterAll(() => exchanges.close());
beforeEach(() => exchanges.quote("100", "100", "100", START));

describe("a provider's next life", () => {
  let lease: string;
  beforeEach(() => {
    lease = join(mkdtempSync(join(tmpdir(), "lease-")), "lease");
  });
  const life = (start: number) => startProvider({ lease, redirectedOrigins: exchanges.redirectedOrigins }, { start });

  /** A life that signs one round, and the round. */
  async function signOne() {
    const first = await life(START - 1_000);
    const round = first.clock.now;
    expect((await first.ask({ timestamp: round })).body.outcome).toBe("OK");
    await first.close();
    return round;
  }

  it("signs no round that a former one may have signed, and says until when, in the answer and in the log", async () => {
    const round = await signOne();
    exchanges.quote("200", "200", "200", START);
    const second = await life(round);
    second.clock.now = round;
    const refused = await second.ask({ timestamp: round });
    expect(refused).toMatchObject({ status: 503, body: { code: "round_forgotten" } });
    const through = Number(/Ask for a round after (\d+) /.exec(refused.body.detail)?.[1]);
    expect(through).toBeGreaterThan(round);
    expect(through).toBeLessThan(round + 10);
    const ready = await fetch(`${second.url}/ready`);
    expect(ready.status).toBe(503);
    expect(((await ready.json()) as { detail: string }).detail).toContain(`no new round up to ${through} (`);
    expect(second.logs).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining(`no new round up to ${through} is signed, for `) }),
    );

    second.clock.now = through;
    expect((await second.ask({ timestamp: through })).status).toBe(503);
    second.clock.now = through + 3;
    expect((await second.ask({ timestamp: through + 1 })).body.outcome).toBe("OK");
    expect((await fetch(`${second.url}/ready`)).status).toBe(200);
    await second.close();
  });

  it("signs no such round with the clock set back, nor when the lease was damaged in between", async () => {
    const round = await signOne();
    exchanges.quote("200", "200", "200", START);
    for (const [start, damage] of [
      [round - 60, () => {}],
      [round + 1, () => truncateSync(join(lease, readdirSync(lease)[0] ?? ""), 9)],
    ] as const) {
      damage();
      const second = await life(start);
      second.clock.now = round;
      expect((await second.ask({ timestamp: round })).body.code).toBe("round_forgotten");
      await second.close();
    }
  });

  it("warns that it will be silent for long when the lease is far ahead of the clock", async () => {
    await (await life(START + 86_400)).close();
    const provider = await life(START);
    expect(provider.logs).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining(`no new round up to ${START + 86_402} is`) }),
    );
    await provider.close();
  });
});

describe("two processes of a provider on one folder", () => {
  const processes: ProviderProcess[] = [];
  afterAll(async () => {
    for (const { child } of processes) child.kill("SIGKILL");
    await Promise.all(processes.map(({ closed }) => closed));
  });
  const start = (config: string) => {
    processes.push(spawnProvider(["serve", "--config", config], ENV));
    return processes.at(-1) as ProviderProcess;
  };
  const clock = () => Math.floor(Date.now() / 1_000);

  it("never sign two values for one round: the first stops when the second starts, and says so", async () => {
    exchanges.quote("100", "100", "100", clock());
    const { config } = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins, requestsPerMinute: 100_000 });
    const first = await untilListening(start(config));
    await untilReady(first);
    const round = clock();
    const signed = await askForReport(first, round);
    expect(signed.status).toBe(200);

    const second = await untilListening(start(config));
    exchanges.quote("200", "200", "200", clock());
    const later = await askForReport(first, clock());
    expect([later.status, JSON.parse(later.text).code]).toEqual([503, "not_ready"]);
    expect((await fetch(`${first}/ready`)).status).toBe(503);
    await expect.poll(() => processes[0]?.printed.stdout).toContain("Another process has taken the lease");
    expect(await askForReport(first, round)).toEqual(signed);
    expect((await askForReport(second, round)).status).not.toBe(200);
    await untilReady(second);
    expect((await askForReport(second, clock() - 1)).status).toBe(200);
  });
});
