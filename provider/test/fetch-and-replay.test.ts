import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coinbaseTicker, type FakeExchanges, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider, writeConfig } from "./support/provider-process.js";
import { startProvider } from "./support/test-provider.js";

let market: Market;
let config: string;
beforeAll(async () => {
  market = await startMarket({ seed: 4 });
  config = writeConfig({ redirectedOrigins: marketRedirects(market.url), excludedSources: [] }).config;
});
afterAll(() => market.close());

describe("provider fetch", () => {
  it("prints JSON where there is no terminal: each source with its price and time, and the median", async () => {
    const { code, stdout, stderr } = await runProvider(["fetch", "SPOTPX/ETH-USD", "--config", config]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ key: "SPOTPX/ETH-USD", outcome: "OK" });
    expect(answer.sources).toHaveLength(8);
    expect(answer.sources.every(({ used }: { used: boolean }) => used)).toBe(true);
    const sorted = answer.sources
      .map(({ value }: { value: string }) => BigInt(value))
      .toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1));
    expect(BigInt(answer.value)).toBe(sorted[3]);
    expect(Number(answer.price)).toBeCloseTo(Number(answer.value) / 1e18, 6);
  });

  it("takes the key in hex too", async () => {
    const { stdout } = await runProvider(["fetch", "0x53504f5450582f4554482d555344", "--config", config]);
    expect(JSON.parse(stdout).key).toBe("SPOTPX/ETH-USD");
  });

  it("ends with 1 when there is no price, and says why of each source", async () => {
    const exchanges: FakeExchanges = await startFakeExchanges();
    const gone = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins }).config;
    exchanges.behave("coinbase", (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(coinbaseTicker("1", 1_500_000_000)),
    );
    const { code, stdout } = await runProvider(["fetch", "SPOTPX/ETH-USD", "--config", gone]);
    await exchanges.close();
    expect(code).toBe(1);
    const { outcome, value, sources } = JSON.parse(stdout);
    expect({ outcome, value }).toEqual({ outcome: "NOT_AVAILABLE", value: null });
    expect(sources.map(({ reason }: { reason: string }) => reason)).toEqual(["http_status", "too_old", "http_status"]);
  });

  const refused: [args: string[], message: RegExp][] = [
    [["fetch"], /Give exactly one key/],
    [["fetch", "SPOTPX/ETH-USD", "SPOTPX/BTC-USD"], /Give exactly one key/],
    [["fetch", "ETH-USD"], /is not a key that can be fetched\. Give the key of a spot price, such as SPOTPX\/ETH-USD/],
    [["fetch", "0x5"], /is not a key/],
    [["fetch", "SPOTPX/NO-SUCH"], /No source can give a price for NO-SUCH/],
    [["fetch", "SPOTPX/ETH-USD", "--jsn"], /--jsn/],
    [["fetch", "SPOTPX/ETH-USD", "--config", "/no/such"], /cannot be read: ENOENT/],
    [["replay", "/no/such"], /cannot be read: ENOENT/],
    [["replay", "x", "--config", "y"], /^Unknown option '--config'\.\n\nUsage: /],
    [["fetsh"], /An argument belongs to no option/],
  ];
  for (const [args, message] of refused) {
    it(`is refused with 2 and what to fix: ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runProvider(args);
      expect(stderr).toMatch(message);
      expect(stdout).toBe("");
      expect(code).toBe(2);
    });
  }

  for (const name of ["fetch", "replay"]) {
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
    const good = await runProvider(["replay", file]);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({
      key: "SPOTPX/ETH-USD",
      price: "2001",
      value: BigInt(body.value).toString(),
      is_same: true,
      signed: { outcome: "OK", value: BigInt(body.value).toString() },
    });
    writeFileSync(file, readFileSync(file, "utf8").replace(body.value, `0x${"7".repeat(64)}`));
    const bad = await runProvider(["replay", file]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ is_same: false, value: BigInt(body.value).toString() });
    for (const name of readdirSync(dirname(file))) if (name.endsWith(".gz")) rmSync(join(dirname(file), name));
    const gone = await runProvider(["replay", file]);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringMatching(/\/[0-9a-f]{12}….gz cannot be read: ENOENT\./)]);
  });
});
