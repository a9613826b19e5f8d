import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { coinbaseTicker, type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider, writeConfig } from "./support/provider-process.js";
import { startProvider } from "./support/test-provider.js";

/** The shipped sources that list the pair. */
const shipped = loadSources([SHIPPED_SOURCES]).filter(({ queries }) => queries.has("ETH-USD"));

let market: Market;
let config: string;
beforeAll(async () => {
  market = await startMarket({ seed: 4 });
  config = writeConfig({ redirectedOrigins: marketRedirects(market.url), excludedSources: [] }).config;
});
afterAll(() => market.close());

describe("provider try", () => {
  it("prints JSON: each source with its price and time, and the median", async () => {
    const { code, stdout, stderr } = await runProvider(["try", "SPOTPX/ETH-USD", "--json", "--config", config]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ key: "SPOTPX/ETH-USD", outcome: "OK" });
    expect(answer.sources).toHaveLength(shipped.length);
    expect(answer.sources.every(({ used }: { used: boolean }) => used)).toBe(true);
    const sorted = answer.sources
      .map(({ value }: { value: string }) => BigInt(value))
      .toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1));
    expect(BigInt(answer.value)).toBe(sorted[(sorted.length - 1) >> 1]);
    expect(Number(answer.price)).toBeCloseTo(Number(answer.value) / 1e18, 6);
  });

  it("takes the key in hex too", async () => {
    const { stdout } = await runProvider(["try", "0x53504f5450582f4554482d555344", "--json", "--config", config]);
    expect(JSON.parse(stdout).key).toBe("SPOTPX/ETH-USD");
  });

  it("ends with 1 when there is no price, and says why of each source", async () => {
    const exchanges: FakeExchanges = await startFakeExchanges();
    const gone = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins }).config;
    exchanges.behave("coinbase", (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(coinbaseTicker("1", 1_500_000_000)),
    );
    const { code, stdout } = await runProvider(["try", "SPOTPX/ETH-USD", "--json", "--config", gone]);
    await exchanges.close();
    expect(code).toBe(1);
    const { outcome, value, sources } = JSON.parse(stdout);
    expect({ outcome, value }).toEqual({ outcome: "NOT_AVAILABLE", value: null });
    expect(sources.map(({ reason }: { reason: string }) => reason.split(":")[0])).toEqual([
      "http_status",
      "too_old",
      "http_status",
    ]);
  });

  it("shows with --repeat how the value and each source's answers vary", async () => {
    const { code, stdout } = await runProvider(["try", "SPOTPX/ETH-USD", "--repeat", "3", "--config", config]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^value: \d/m);
    const varied = stdout.split("\n").filter((line) => /3 of 3 with a value, \d different: \d/.test(line));
    // The value, and each source.
    expect(varied).toHaveLength(1 + shipped.length);
    expect(varied[0]).toMatch(/^value /);
  });

  it("prints each of the repeated readings as JSON", async () => {
    const { code, stdout } = await runProvider([
      "try",
      "SPOTPX/ETH-USD",
      "--repeat",
      "2",
      "--json",
      "--config",
      config,
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(
      Array(2).fill(expect.objectContaining({ key: "SPOTPX/ETH-USD", outcome: "OK" })),
    );
  });

  const refused: [args: string[], message: RegExp][] = [
    [["try"], /Name a key or the file of a spec/],
    [["try", "SPOTPX/ETH-USD", "SPOTPX/BTC-USD"], /A key takes no arguments/],
    [["try", "ETH-USD"], /is neither the key of a spot price, such as SPOTPX\/ETH-USD, nor/],
    [["try", "0x5"], /is neither the key of a spot price/],
    [["try", "no-such.json"], /no-such\.json cannot be read: ENOENT/],
    [["try", "SPOTPX/ETH-USD", "--repeat", "1"], /--repeat: 1 is not a whole number from 2 to 1000/],
    [["try", "SPOTPX/NO-SUCH"], /No source can give a price for NO-SUCH/],
    [["try", "SPOTPX/ETH-USD", "--jsn"], /--jsn/],
    [["try", "SPOTPX/ETH-USD", "--config", "/no/such"], /cannot be read: ENOENT/],
    [["replay", "/no/such"], /cannot be read: ENOENT/],
    [["replay", "x", "--config", "y"], /^Unknown option '--config'\.\n\nUsage: /],
    [["fetch"], /There is no such command\. The commands are: serve, check, try, /],
    [["--config", "x"], /--config is not a command/],
    [[], /Name a command/],
  ];
  for (const [args, message] of refused) {
    it(`is refused with 2 and what to fix: ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runProvider(args);
      expect(stderr).toMatch(message);
      expect(stdout).toBe("");
      expect(code).toBe(2);
    });
  }

  for (const name of ["serve", "check", "try", "validate", "key", "publish", "announce", "replay"]) {
    it(`${name} --help says what it takes`, async () => {
      expect(await runProvider([name, "--help"])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Usage: provider ${name} `),
      });
    });
  }
});

describe("provider replay", () => {
  it("computes the same value from the evidence alone, and finds out when that was not what was signed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "evidence-"));
    const exchanges = await startFakeExchanges();
    exchanges.quote("2000", "2002", "2001");
    const settings = { redirectedOrigins: exchanges.redirectedOrigins, evidence: { folder, maxMegabytes: 1 } };
    const provider = await startProvider(settings);
    const { body } = await provider.ask();
    await provider.close();
    await exchanges.close();
    const [name = ""] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".json"),
    );
    const file = join(folder, name);
    const good = await runProvider(["replay", "--json", file]);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({
      key: "SPOTPX/ETH-USD",
      price: "2001",
      value: BigInt(body.value).toString(),
      is_same: true,
      signed: { outcome: "OK", value: BigInt(body.value).toString() },
    });
    writeFileSync(file, readFileSync(file, "utf8").replace(body.value, `0x${"7".repeat(64)}`));
    const bad = await runProvider(["replay", "--json", file]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ is_same: false, value: BigInt(body.value).toString() });
    for (const name of readdirSync(dirname(file))) if (name.endsWith(".gz")) rmSync(join(dirname(file), name));
    const gone = await runProvider(["replay", "--json", file]);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringMatching(/\/[0-9a-f]{12}….gz cannot be read: ENOENT\./)]);
  });
});
