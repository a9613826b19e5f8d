import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { startFakeExchanges } from "./support/fake-exchanges.js";
import { askForReport, spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const clock = () => Math.floor(Date.now() / 1_000);

// Only Linux can limit the size of files for a running process, which is what a full disk is to it.
test.runIf(process.platform === "linux")(
  "a provider that cannot write signs nothing new, repeats what it signed, and signs again once it can write",
  async () => {
    const exchanges = await startFakeExchanges();
    exchanges.quote("100", "100", "100", clock());
    const { config } = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins, requestsPerMinute: 100_000 });
    const provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
    const limitFiles = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(provider.child.pid), `--fsize=${bytes}:unlimited`]);
    try {
      const url = await untilListening(provider);
      await untilReady(url);
      const first = clock();
      const signed = await askForReport(url, first);
      expect(signed.status).toBe(200);
      limitFiles("0");
      const codeNow = async () => {
        const { status, text } = await askForReport(url, clock());
        return status === 200 ? "signed" : JSON.parse(text).code;
      };
      // The rounds up to the number on disk may still be signed.
      await expect.poll(codeNow, { timeout: 15_000, interval: 200 }).toBe("not_ready");
      expect(await askForReport(url, first)).toEqual(signed);
      expect((await fetch(`${url}/ready`)).status).toBe(503);
      limitFiles("unlimited");
      expect(await codeNow()).toBe("signed");
      expect((await fetch(`${url}/ready`)).status).toBe(200);
    } finally {
      provider.child.kill("SIGKILL");
      await provider.closed;
      await exchanges.close();
    }
  },
);
