import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { runProvider, spawnProvider, untilListening, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

it("a provider's process serves its metrics on an address of their own, logs JSON, and ends cleanly on SIGTERM", async () => {
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

it.each(["port", "metricsPort"])("a busy %s is a clear error, and ends with 2", async (setting) => {
  const busy = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void busy.close());
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const { config } = writeConfig({ [setting]: port });
  const { code, stderr } = await runProvider(["serve", "--config", config], ENV);
  expect([code, stderr]).toEqual([
    2,
    `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another "${setting}".\n`,
  ]);
});
