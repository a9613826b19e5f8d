import { expect, test } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { askForReport, spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const clock = () => Math.floor(Date.now() / 1_000);

test("a provider that cannot write signs nothing new, repeats what it signed, and is not ready", async () => {
  const exchanges = await startFakeExchanges();
  exchanges.quote("100", "100", "100", clock());
  const { config } = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins, requestsPerMinute: 100_000 });
  // Limits files to a few kilobytes, which to this process is a full disk.
  const limited = ["sh", "-c", 'ulimit -f 2; exec "$0" "$@"'];
  const provider = spawnProvider(["--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY }, limited);
  const url = await untilListening(provider);
  await untilReady(url);
  const first = clock();
  const signed = await askForReport(url, first);
  expect(signed.status).toBe(200);
  const refused = async () => {
    for (let age = 10; age >= -2; --age) {
      const answer = await askForReport(url, clock() - age);
      if (answer.status === 500) return answer.text;
    }
    return "";
  };
  await expect.poll(refused, { timeout: 15_000, interval: 200 }).toContain("internal_error");
  expect(await askForReport(url, first)).toEqual(signed);
  expect((await askForReport(url, clock() + 2)).status).toBe(500);
  expect((await fetch(`${url}/ready`)).status).toBe(503);
  provider.child.kill("SIGKILL");
  await provider.closed;
  await exchanges.close();
});
