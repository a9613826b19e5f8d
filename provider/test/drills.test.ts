import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import {
  askForReport,
  type ProviderProcess,
  spawnProvider,
  untilListening,
  untilReady,
  writeConfig,
} from "./support/provider-process.js";
import { PRIVATE_KEY, START, startProvider, type TestProvider } from "./support/test-provider.js";

/*
 * What an owner goes through in the years after the start, as `provider/deploy/README.md` describes it. That a provider
 * which is killed signs nothing twice is shown by `crash.test.ts`, and for any history by `decider.test.ts`.
 */

let exchanges: FakeExchanges;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
});
afterAll(() => exchanges.close());

describe("drill:", () => {
  let folder: string;
  const lives: TestProvider[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "drill-"));
  });
  afterEach(async () => {
    await Promise.all(lives.splice(0).map((life) => life.close()));
  });

  /** Starts a provider on a machine whose clock shows this time, with its lease in this folder. */
  async function live(time: number, lease = join(folder, "lease")): Promise<TestProvider> {
    const provider = await startProvider({ lease, redirectedOrigins: exchanges.redirectedOrigins }, { start: time });
    provider.clock.now = time;
    lives.push(provider);
    return provider;
  }

  /** Has a round signed at a time; the price differs each time, which reveals a round that is signed twice. */
  let price = 100;
  async function signAt(provider: TestProvider, time: number, round = time) {
    provider.clock.now = time;
    price += 1;
    exchanges.quote(String(price), String(price), String(price), time);
    const { status, body } = await provider.ask({ timestamp: round });
    return { status, code: body.code ?? body.outcome, detail: body.detail };
  }
  const SIGNED = { status: 200, code: "OK" };

  it("a provider that is restored from a backup that is an hour old signs nothing twice", async () => {
    const first = await live(START);
    cpSync(join(folder, "lease"), join(folder, "backup"), { recursive: true });
    const lost = START + 3_600;
    for (const round of [START + 10, lost - 60, lost - 2, lost - 1, lost]) {
      expect(await signAt(first, round)).toMatchObject(SIGNED);
    }
    await first.close();
    rmSync(join(folder, "lease"), { recursive: true });
    cpSync(join(folder, "backup"), join(folder, "lease"), { recursive: true });

    // The disk is back a second later.
    const second = await live(lost + 1);
    for (const round of [lost - 2, lost - 1, lost, lost + 3]) {
      expect(await signAt(second, lost + 1, round)).toMatchObject({ status: 503, code: "round_forgotten" });
    }
    expect(await signAt(second, lost + 1, lost - 60)).toMatchObject({ status: 422, code: "round_too_old" });
    const { detail } = await signAt(second, lost + 1, lost);
    expect(detail).toContain(`Ask for a round after ${lost + 3} `);
    const ready = await fetch(`${second.url}/ready`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringContaining(`no new round up to ${lost + 3} (`),
    ]);
    const logged = expect.stringContaining(`no new round up to ${lost + 3} is signed, for 2 s`);
    expect(second.logs).toContainEqual(expect.objectContaining({ level: 30, msg: logged }));

    expect(await signAt(second, lost + 6, lost + 4)).toMatchObject(SIGNED);
    expect((await fetch(`${second.url}/ready`)).status).toBe(200);
  });

  it.each([0, 10, 30])(
    "a provider that moves to another machine after 30 s, without its lease, signs nothing twice: the clock there is %d s slow",
    async (behind) => {
      const old = await live(START);
      const stopped = START + 3_600;
      for (const round of [stopped - 1, stopped]) expect(await signAt(old, round)).toMatchObject(SIGNED);
      await old.close();

      const start = stopped + 30 - behind;
      const moved = await live(start, join(folder, "lease-of-the-new-machine"));
      for (const round of [stopped - 1, stopped, stopped + 2]) {
        expect((await signAt(moved, start, round)).status).not.toBe(200);
      }
      expect(await signAt(moved, start + 5, start + 3)).toMatchObject(SIGNED);
    },
  );

  it("a provider whose clock was a day ahead warns that it is silent until then", async () => {
    await (await live(START + 86_400)).close();
    const provider = await live(START);
    const msg = expect.stringContaining(`no new round up to ${START + 86_402} is`);
    expect(provider.logs).toContainEqual(expect.objectContaining({ level: 40, msg }));
    expect(await signAt(provider, START + 100)).toMatchObject({ status: 503, code: "round_forgotten" });
  });
});

describe("drill, with processes:", () => {
  const processes: ProviderProcess[] = [];
  const clock = () => Math.floor(Date.now() / 1_000);
  const quote = (price: string) => exchanges.quote(price, price, price, clock());
  let config: string;
  let url: string;
  beforeAll(async () => {
    const { redirectedOrigins } = exchanges;
    // The quotes are as old as the test.
    ({ config } = writeConfig({ redirectedOrigins, requestsPerMinute: 100_000, maxQuoteAge: 600 }));
    quote("100");
    url = await start();
    await untilReady(url);
  });
  afterAll(async () => {
    for (const { child } of processes) child.kill("SIGKILL");
    await Promise.all(processes.map(({ closed }) => closed));
  });

  function start(): Promise<string> {
    const provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
    processes.push(provider);
    return untilListening(provider);
  }
  async function outcomeNow(): Promise<string> {
    const { status, text } = await askForReport(url, clock());
    return status === 200 ? "signed" : JSON.parse(text).code;
  }
  const readiness = async () => (await fetch(`${url}/ready`)).status;

  // Only Linux can limit the size of files for a running process, which is what a full disk is to it.
  it.runIf(process.platform === "linux")(
    "while the disk is full, a provider signs nothing new and repeats what it signed; then it signs again",
    async () => {
      const first = clock();
      const signed = await askForReport(url, first);
      expect(signed.status).toBe(200);
      const limitFiles = (bytes: string) =>
        execFileSync("prlimit", ["--pid", String(processes[0]?.child.pid), `--fsize=${bytes}:unlimited`]);
      limitFiles("0");
      // The rounds up to the number on disk may still be signed.
      await expect.poll(outcomeNow, { interval: 200 }).toBe("not_ready");
      expect(await askForReport(url, first)).toEqual(signed);
      expect(await readiness()).toBe(503);
      limitFiles("unlimited");
      expect(await outcomeNow()).toBe("signed");
      expect(await readiness()).toBe(200);
    },
  );

  it("of two processes on one folder, the first signs nothing more once the second has started, and says so", async () => {
    const round = clock();
    const signed = await askForReport(url, round);
    expect(signed.status).toBe(200);

    const second = await start();
    quote("200");
    expect([await outcomeNow(), await readiness()]).toEqual(["not_ready", 503]);
    await expect.poll(() => processes[0]?.printed.stdout).toContain("Another process has taken the lease");
    expect(await askForReport(url, round)).toEqual(signed);
    expect((await askForReport(second, round)).status).not.toBe(200);
    await untilReady(second);
    expect((await askForReport(second, clock() - 1)).status).toBe(200);
  });
});
