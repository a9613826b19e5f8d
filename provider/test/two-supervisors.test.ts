import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { askForReport, spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

/** How long both supervisors run: two minutes every week; otherwise long enough for two restarts. */
const SECONDS = process.env.MODE === "long" ? 120 : 12;
/** The pause of the unit, RestartSec. */
const RESTART_MS = 5_000;

const exchanges = await startFakeExchanges();
afterAll(() => exchanges.close());

/** Keeps a provider running, as the systemd unit does: it starts it again unless a restart cannot help. */
function supervise(config: string) {
  const exits: (number | null)[] = [];
  let isStopped = false;
  let current = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
  const run = async () => {
    for (;;) {
      const [code] = await current.closed;
      if (isStopped) return;
      exits.push(code);
      if (code === 0 || code === 2 || code === 3) return;
      await sleep(RESTART_MS);
      if (isStopped) return;
      current = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
    }
  };
  const running = run();
  onTestFinished(async () => {
    isStopped = true;
    current.child.kill("SIGKILL");
    await running;
  });
  return { exits, running, current: () => current };
}

describe("two supervisors of one lease", () => {
  const clock = () => Math.floor(Date.now() / 1_000);

  async function configure(lease: string) {
    const { redirectedOrigins } = exchanges;
    const [port, metricsPort] = [await freePort(), await freePort()];
    const ports = { port, metricsPort };
    const { config } = writeConfig({
      ...ports,
      lease,
      redirectedOrigins,
      requestsPerMinute: 100_000,
      maxQuoteAge: 600,
    });
    return { config, url: `http://127.0.0.1:${port}`, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  }

  /** Asks once a second, and returns what was answered instead of a report. */
  async function askThroughout(url: string): Promise<unknown[]> {
    const refusals: unknown[] = [];
    const end = Date.now() + SECONDS * 1_000;
    while (Date.now() < end) {
      const { status, body } = await askForReport(url, clock() - 1);
      if (status !== 200) refusals.push(body);
      await sleep(1_000);
    }
    return refusals;
  }

  test("with the same configuration: the process that runs signs throughout, and the other never gets the lease", async () => {
    exchanges.quote("100", "100", "100", clock());
    const { config, url } = await configure(join(mkdtempSync(join(tmpdir(), "supervisors-")), "lease"));
    const first = supervise(config);
    await untilListening(first.current());
    await untilReady(url);
    const second = supervise(config);
    expect(await askThroughout(url)).toEqual([]);
    expect(first.exits).toEqual([]);
    expect(second.exits.length).toBeGreaterThan(0);
    expect(new Set(second.exits)).toEqual(new Set([1]));
  });

  test("with two ports: the second takes the lease once and signs throughout, and the first stays down", async () => {
    exchanges.quote("100", "100", "100", clock());
    const lease = join(mkdtempSync(join(tmpdir(), "supervisors-")), "lease");
    const [one, two] = [await configure(lease), await configure(lease)];
    const first = supervise(one.config);
    await untilListening(first.current());
    await untilReady(one.url);
    const second = supervise(two.config);
    await untilListening(second.current());
    await expect.poll(() => first.current().printed.stdout).toContain("Another process has taken the lease");
    // It ends only when Prometheus can tell why.
    expect(await (await fetch(one.metricsUrl)).text()).toMatch(/^provider_lease_lost 1$/m);
    await first.running;
    await untilReady(two.url);
    expect(await askThroughout(two.url)).toEqual([]);
    expect([first.exits, second.exits]).toEqual([[3], []]);
  });
});
