import { marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { coinbaseTicker, json, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider, writeConfig } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";

/** The shipped sources that list the pair. */
const shipped = loadSources([SHIPPED_SOURCES]).filter(({ queries }) => queries.has("ETH-USD"));

describe("provider try", () => {
  let market: Market;
  let config: string;
  beforeAll(async () => {
    market = await startMarket({ seed: 4 });
    config = writeConfig({ redirectedOrigins: marketRedirects(market.url), excludedSources: [] }).config;
  });
  afterAll(() => market.close());

  test("prints JSON: each source with its price and time, and the median", async () => {
    const { code, stdout, stderr } = await runProvider(["try", "SPOTPX/ETH-USD", "--json", "--config", config]);
    expect([code, stderr]).toEqual([0, ""]);
    const answer = JSON.parse(stdout);
    const sources = shipped.map(({ name }) => expect.objectContaining({ name, used: true }));
    expect(answer).toMatchObject({ key: "SPOTPX/ETH-USD", outcome: "OK", sources });
    expect(answer.sources.map(({ value }: { value: string }) => value)).toContain(answer.value);
    expect(Number(answer.price)).toBeCloseTo(Number(answer.value) / 1e18, 6);
  });

  test("ends with 1 when there is no price, and says why of each source", async () => {
    const exchanges = await startFakeExchanges();
    const gone = writeConfig({ redirectedOrigins: exchanges.redirectedOrigins }).config;
    exchanges.behave("coinbase", json(coinbaseTicker("1", 1_500_000_000)));
    // A key may be in hex.
    const { code, stdout } = await runCommand(["try", "0x53504f5450582f4554482d555344", "--json", "--config", gone]);
    await exchanges.close();
    expect(code).toBe(1);
    const { sources, ...answer } = JSON.parse(stdout);
    expect(answer).toMatchObject({ key: "SPOTPX/ETH-USD", outcome: "NOT_AVAILABLE", value: null });
    const reasons = sources.map(({ reason }: { reason: string }) => reason.split(":")[0]);
    expect(reasons).toEqual(["http_status", "too_old", "http_status"]);
  });

  test("shows with --repeat how the value and each source's answers vary, or each reading as JSON", async () => {
    const repeated = ["try", "SPOTPX/ETH-USD", "--config", config, "--repeat", "2"] as const;
    const { code, stdout } = await runCommand(repeated);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^value: \d/m)]);
    const varied = stdout.split("\n").filter((line) => /2 of 2 with a value, \d different: \d/.test(line));
    // The value, and each source.
    expect(varied).toEqual([expect.stringMatching(/^value /), ...shipped.map(() => expect.anything())]);
    const reading = expect.objectContaining({ key: "SPOTPX/ETH-USD", outcome: "OK" });
    expect(JSON.parse((await runCommand([...repeated, "--json"])).stdout)).toEqual([reading, reading]);
  });
});

describe("what cannot be tried or replayed is refused with 2 and what to fix:", () => {
  test.each<[args: Parameters<typeof runCommand>[0], message: RegExp]>([
    [["try"], /Name a key or the file of a spec/],
    [["try", "SPOTPX/ETH-USD", "SPOTPX/BTC-USD"], /A key takes no arguments/],
    [["try", "ETH-USD"], /is neither the key of a spot price, such as SPOTPX\/ETH-USD, nor/],
    [["try", "SPOTPX/ETH-USD", "--repeat", "1"], /--repeat: 1 is not a whole number from 2 to 1000/],
    [["try", "SPOTPX/NO-SUCH"], /No source can give a price for NO-SUCH/],
    [["replay"], /Give at least one file of evidence/],
    [["replay", "/no/such"], /cannot be read: ENOENT/],
  ])("%j", async (args, message) => {
    expect(await runCommand(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });

  test.each<[args: string[], message: RegExp]>([
    [["fetch"], /There is no such command\. The commands are: serve, check, try, /],
    [[], /Name a command/],
  ])("%j, by the process", async (args, message) => {
    expect(await runProvider(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });
});
