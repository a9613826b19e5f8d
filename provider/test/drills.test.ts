import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { askForReport, spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY, START, startProvider, type TestProvider } from "./support/test-provider.js";

/*
 * What an owner goes through in the years after the start, as `provider/deploy/README.md` describes it. That a provider
 * which is killed signs nothing twice is shown by `crash.test.ts`, and for any history by `decider.test.ts`.
 */

const exchanges = await startFakeExchanges();
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

  test("a provider that is restored from a backup that is an hour old signs nothing twice", async () => {
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

  test.each([0, 10, 30])(
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

  test("a provider whose clock was a day ahead warns that it is silent until then", async () => {
    await (await live(START + 86_400)).close();
    const provider = await live(START);
    const msg = expect.stringContaining(`no new round up to ${START + 86_402} is`);
    expect(provider.logs).toContainEqual(expect.objectContaining({ level: 40, msg }));
    expect(await signAt(provider, START + 100)).toMatchObject({ status: 503, code: "round_forgotten" });
  });
});

// Only Linux can limit the size of files for a running process, which is what a full disk is to it.
test.runIf(process.platform === "linux")(
  "drill: while the disk is full, a provider signs nothing new and repeats what it signed; then it signs again",
  async () => {
    const clock = () => Math.floor(Date.now() / 1_000);
    // The quotes are as old as the test.
    exchanges.quote("100", "100", "100", clock());
    const { redirectedOrigins } = exchanges;
    const { config } = writeConfig({ redirectedOrigins, requestsPerMinute: 100_000, maxQuoteAge: 600 });
    const provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
    onTestFinished(async () => {
      provider.child.kill("SIGKILL");
      await provider.closed;
    });
    const url = await untilListening(provider);
    await untilReady(url);
    const answerAt = async (round: number) => (await askForReport(url, round)).body;
    const readiness = async () => (await fetch(`${url}/ready`)).status;
    const limitFiles = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(provider.child.pid), `--fsize=${bytes}:unlimited`]);

    const first = clock();
    const { signature } = await answerAt(first);
    expect(signature).toBeDefined();
    limitFiles("0");
    // The rounds up to the number on disk may still be signed.
    await expect.poll(() => answerAt(clock()), { interval: 200 }).toMatchObject({ code: "not_ready" });
    expect(await answerAt(first)).toMatchObject({ signature });
    expect(await readiness()).toBe(503);
    limitFiles("unlimited");
    expect(await answerAt(clock())).toMatchObject({ outcome: "OK" });
    expect(await readiness()).toBe(200);
  },
);
