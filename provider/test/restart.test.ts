import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import {
  askForReport,
  type ProviderProcess,
  runProvider,
  spawnProvider,
  untilListening,
  untilReady,
  writeConfig,
} from "./support/provider-process.js";
import { PRIVATE_KEY, START, startProvider, wireValue, withoutSources } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

let exchanges: FakeExchanges;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
});
afterAll(() => exchanges.close());
beforeEach(() => exchanges.quote("100", "100", "100", START));

describe("a provider's next life", () => {
  let database: string;
  beforeEach(() => {
    database = join(mkdtempSync(join(tmpdir(), "database-")), "database");
  });
  const life = (start: number) =>
    startProvider({ database, redirectedOrigins: exchanges.redirectedOrigins }, { start: start - 1_000 });

  it("answers what a former one signed, byte for byte, whatever prices are now, and is not silent", async () => {
    const first = await life(START);
    const signed = await first.ask();
    expect(signed.body.outcome).toBe("OK");
    await first.close();

    exchanges.quote("200", "200", "200", START);
    const second = await life(START);
    expect((await second.ask()).text).toBe(withoutSources(signed.text));
    expect((await fetch(`${second.url}/ready`)).status).toBe(200);
    expect((await second.ask({ timestamp: START + 1 })).body.value).not.toBe(signed.body.value);
    await second.close();
  });

  it("does not sign a round again that a former one signed and forgot, with the clock set back", async () => {
    const first = await life(START);
    await first.ask();
    first.clock.now += 620;
    for (const round of [first.clock.now, first.clock.now + 1]) await first.ask({ timestamp: round });
    await first.close();

    exchanges.quote("200", "200", "200", START);
    const second = await life(START);
    expect((await second.ask()).body.code).toBe("round_forgotten");
    expect((await fetch(`${second.url}/ready`)).status).toBe(503);
    // The next round was not signed before.
    expect((await second.ask({ timestamp: START + 1 })).body.outcome).toBe("OK");
    await second.close();
  });

  it.each(["log", "last-write"])(
    "signs no other value when its %s was damaged in between, and says so",
    async (file) => {
      const first = await life(START);
      expect((await first.ask()).body.outcome).toBe("OK");
      await first.close();
      const name = readdirSync(database).find((other) => other.endsWith(file)) ?? "";
      const bytes = readFileSync(join(database, name));
      bytes.fill(0xff, bytes.length >> 1);
      writeFileSync(join(database, name), bytes);

      exchanges.quote("200", "200", "200", START);
      const second = await life(START);
      const again = await second.ask();
      if (file === "log") expect(again.body.code).toBe("round_forgotten");
      else expect(again.body.value).toBe(wireValue(100n * 10n ** 18n));
      expect((await second.ask({ timestamp: START + 1 })).body.outcome).toBe("OK");
      expect(second.logs).toContainEqual(
        expect.objectContaining({ level: 50, msg: expect.stringContaining("lost decisions") }),
      );
      await second.close();
    },
  );

  it("says that it will be silent when its database is far ahead of the clock", async () => {
    await (await life(START + 86_400)).close();
    const provider = await startProvider({ database, redirectedOrigins: exchanges.redirectedOrigins });
    expect(provider.logs).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining(`accepts no round up to ${START + 85_402}`) }),
    );
    await provider.close();
  });
});

describe("a provider's process", () => {
  const processes: ProviderProcess[] = [];
  afterAll(async () => {
    for (const { child } of processes) child.kill("SIGKILL");
    await Promise.all(processes.map(({ closed }) => closed));
  });
  const start = (config: string) => {
    processes.push(spawnProvider(["--config", config], ENV));
    return processes.at(-1) as ProviderProcess;
  };
  const clock = () => Math.floor(Date.now() / 1_000);

  beforeEach(() => exchanges.quote("100", "100", "100", clock()));

  it("refuses a database that another process uses, and is ready at once when that process was killed", async () => {
    const { config } = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins });
    const first = start(config);
    const firstUrl = await untilListening(first);
    const second = await runProvider(["--config", config], ENV);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(
      /^database: .*database is in use by another process\. Stop it\. Each signing key needs its own folder\.\n$/,
    );
    // --check-config does not lock the database.
    expect((await runProvider(["--config", config, "--check-config"], ENV)).code).toBe(0);

    await untilReady(firstUrl);
    const round = clock() - 1;
    const signed = await askForReport(firstUrl, round);
    expect(signed.status).toBe(200);
    first.child.kill("SIGKILL");
    await first.closed;
    exchanges.quote("200", "200", "200", clock());
    const url = await untilListening(start(config));
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect(await askForReport(url, round)).toEqual(signed);
  });
});
