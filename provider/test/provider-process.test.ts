import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { expect, onTestFinished, test } from "vitest";
import { askForReport, runProvider, spawnProvider, untilListening, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };
/** Loaded into a provider, it makes reading a lease take forever. */
const SLOW_READS = fileURLToPath(new URL("support/slow-reads.cjs", import.meta.url));

test("a provider's process serves its metrics on an address of their own, logs JSON, and ends cleanly on SIGTERM", async () => {
  const provider = spawnProvider(["serve", "--config", writeConfig({}).config], ENV);
  onTestFinished(() => void provider.child.kill("SIGKILL"));
  const url = await untilListening(provider);
  const printed = () => provider.printed.stdout;
  await expect.poll(printed).toContain("metrics for Prometheus at ");
  const metricsUrl = /metrics for Prometheus at (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(printed())?.[1] ?? "";
  const metrics = await fetch(metricsUrl);
  expect(metrics.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await metrics.text()).toMatch(/process_cpu_seconds_total[\s\S]*^provider_ready [01]$/m);
  const statuses = ["/live", "/metrics"].map(async (path) => (await fetch(`${url}${path}`)).status);
  expect(await Promise.all(statuses)).toEqual([200, 404]);
  expect((await fetch(metricsUrl.replace("/metrics", "/report"))).status).toBe(404);

  provider.child.kill("SIGTERM");
  expect([(await provider.closed)[0], provider.printed.stderr]).toEqual([0, ""]);
  const lines = printed().trim().split("\n");
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  // For how long nothing is signed, and what is answered until then, is shown with a clock that stands still.
  expect(printed()).toContain("no new round up to");
  expect(printed()).toMatch(/"signatures are made by (?:secp256k1 \(native\)|tiny-secp256k1 \(WebAssembly\))"/);
});

test.each(["port", "metricsPort"])(
  "a busy %s is a clear error, ends with 1, and leaves the lease alone",
  async (setting) => {
    const busy = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void busy.close());
    await once(busy, "listening");
    const { port } = busy.address() as AddressInfo;
    const { config, folder } = writeConfig({ [setting]: port });
    const { code, stderr } = await runProvider(["serve", "--config", config], ENV);
    expect([code, stderr]).toEqual([
      1,
      `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another "${setting}".\n`,
    ]);
    expect(existsSync(join(folder, "lease"))).toBe(false);
  },
);

test.runIf(process.platform === "linux")("a full disk ends a start with 1, because it can pass by itself", async () => {
  const { config } = writeConfig({});
  const start = 'ulimit -f 0; exec "$0" "$@"';
  const { code, stderr } = await runProvider(["serve", "--config", config], ENV, ["sh", "-c", start]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^lease: .*lease cannot be used: EFBIG/)]);
});

async function untilConnected(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}

test("signs nothing, and answers 503 at both of its addresses, until it has its lease", async () => {
  const lease = mkdtempSync(join(tmpdir(), "provider-"));
  const metricsPort = await freePort();
  const { config } = writeConfig({ lease: join(lease, "lease"), metricsPort });
  mkdirSync(join(lease, "lease"));
  writeFileSync(join(lease, "lease", "000000000001"), "");
  const provider = spawnProvider(["serve", "--config", config], { ...ENV, NODE_OPTIONS: `--require ${SLOW_READS}` });
  onTestFinished(() => void provider.child.kill("SIGKILL"));
  const url = await untilListening(provider);
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  await untilConnected(metricsPort);
  const statusOf = async (address: string) => (await fetch(address)).status;
  expect(await Promise.all([metricsUrl, `${url}/ready`, `${url}/live`].map(statusOf))).toEqual([503, 503, 200]);
  const { status, body } = await askForReport(url, Math.floor(Date.now() / 1_000));
  expect([status, body]).toEqual([503, expect.objectContaining({ code: "not_ready" })]);
});
