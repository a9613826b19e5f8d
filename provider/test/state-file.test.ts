import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StateFile } from "../src/state-file.js";
import { type Exchanges, startExchanges } from "./exchanges.js";
import { type ProviderProcess, runProvider, spawnProvider, untilListening, writeConfig } from "./process.js";
import { PRIVATE_KEY, START, startProvider } from "./provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

let stateFile: string;
beforeEach(() => {
  stateFile = join(mkdtempSync(join(tmpdir(), "state-")), "state.json");
});
const onDisk = () => JSON.parse(readFileSync(stateFile, "utf8")).signedThrough;

describe("a provider", () => {
  let exchanges: Exchanges;
  beforeAll(async () => {
    exchanges = await startExchanges();
  });
  afterAll(() => exchanges.close());

  const life = (start: number) =>
    startProvider({ stateFile, sourceOverrides: exchanges.sourceOverrides }, { start: start - 1_000 });

  it("never signs a round again that a former life signed, with the clock set back, whatever prices are now", async () => {
    exchanges.quote("100", "100", "100");
    const first = await life(START + 1_000);
    const signed = await first.ask({ timestamp: first.clock.now + 2 });
    expect(signed.body.outcome).toBe("OK");
    await first.close();

    exchanges.quote("200", "200", "200");
    const second = await life(START + 1_000 - 60);
    // Its clock has come to the same time again, while it ran.
    second.clock.now = first.clock.now;
    for (let round = first.clock.now - 10; round <= first.clock.now + 2; ++round) {
      expect((await second.ask({ timestamp: round })).body.code).toBe("round_forgotten");
    }
    expect((await fetch(`${second.url}/ready`)).status).toBe(503);
    second.clock.now += 5;
    expect((await fetch(`${second.url}/ready`)).status).toBe(200);
    expect((await second.ask({ timestamp: first.clock.now + 3 })).body.outcome).toBe("OK");
    await second.close();
  });

  it("has written what it may sign before it signs, and at most once a second", async () => {
    exchanges.quote("100", "100", "100");
    const provider = await life(START);
    const { now } = provider.clock;
    expect((await provider.ask({ timestamp: now - 2 })).status).toBe(200);
    expect(onDisk()).toBe(now + 2);
    // Nothing of this second needs another write.
    rmSync(stateFile);
    expect((await provider.ask({ timestamp: now + 2 })).status).toBe(200);
    expect(() => onDisk()).toThrow("ENOENT");
    provider.clock.now += 1;
    expect((await provider.ask({ timestamp: now + 3 })).status).toBe(200);
    expect(onDisk()).toBe(now + 3);
    await provider.close();
  });

  it("signs nothing that it cannot write down", async () => {
    exchanges.quote("100", "100", "100");
    const provider = await life(START);
    rmSync(join(stateFile, ".."), { recursive: true });
    expect(await provider.ask()).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(provider.logs.some(({ msg }) => msg === "report signed")).toBe(false);
    await provider.close();
  });

  it("says that it will be silent when its state is far ahead of the clock", async () => {
    writeFileSync(stateFile, JSON.stringify({ signedThrough: START + 86_400 }));
    const provider = await life(START);
    expect(provider.logs).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining(`Silent until ${START + 86_400}`) }),
    );
    expect((await provider.ask()).body.code).toBe("round_forgotten");
    await provider.close();
  });
});

describe("a state file", () => {
  it("is of one process at a time, and free again when that closes", async () => {
    const one = await StateFile.open(stateFile, 100n);
    await expect(StateFile.open(stateFile, 100n)).rejects.toThrow("another process uses");
    one.close();
    const two = await StateFile.open(stateFile, 50n);
    expect(two.signedThrough).toBe(102n);
    two.close();
  });

  it("is not written any more by one who has lost it", async () => {
    const one = await StateFile.open(stateFile, 100n);
    rmSync(`${stateFile}.lock`);
    const two = await StateFile.open(stateFile, 100n);
    expect(() => one.coverBefore(200n, 200n)).toThrow("not this process's");
    two.coverBefore(200n, 200n);
    expect(onDisk()).toBe(202);
    two.close();
  });

  for (const text of ["", "{}", '{"signedThrough":"1"}', '{"signedThrough":-1}', '{"signedThrough":1.5}']) {
    it(`that holds ${text || "nothing"} is refused and left as it is`, async () => {
      writeFileSync(stateFile, text);
      await expect(StateFile.open(stateFile, 100n)).rejects.toThrow(stateFile);
      expect(readFileSync(stateFile, "utf8")).toBe(text);
    });
  }
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
  const readyWithin = (url: string, timeout: number) =>
    expect.poll(async () => (await fetch(`${url}/ready`)).status, { timeout, interval: 100 }).toBe(200);

  it("refuses a state file that another has, and starts at once after that was killed", async () => {
    const { config } = writeConfig({});
    const first = start(config);
    await untilListening(first);
    const second = await runProvider(["--config", config], ENV);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/^stateFile: another process uses .*state\.json\. End it, or give each its own\.\n$/);
    // A check takes nothing.
    expect((await runProvider(["--config", config, "--check-config"], ENV)).code).toBe(0);

    first.child.kill("SIGKILL");
    await first.closed;
    const url = await untilListening(start(config));
    await readyWithin(url, 7_000);
  });
});
