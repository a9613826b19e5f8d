import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { SpotPriceRecord } from "@dataset-oracle/protocol/http-schemas/evidence";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { recordsIn, replayAll, writeChanged } from "./support/evidence.js";
import { json, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";
import { startProvider } from "./support/test-provider.js";

const exchanges = await startFakeExchanges();
afterAll(() => exchanges.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evidence-"));
});

/** The segment of the first decision. */
const segment = () => recordsIn(folder)[0]?.file ?? "";

const start = () =>
  startProvider({ redirectedOrigins: exchanges.redirectedOrigins, evidence: { folder, maxMegabytes: 1 } });

describe("evidence", () => {
  const run = async (change: () => void = () => {}) => {
    exchanges.quote("2000", "2001", "2500");
    change();
    const provider = await start();
    const { body } = await provider.ask();
    await provider.close();
    return body;
  };

  test("of a price with an outlier and of no price is replayed too, and the answer says why", async () => {
    const body = await run();
    expect(body.sources).toEqual([
      {
        name: "bitstamp",
        value: `2500${"0".repeat(18)}`,
        quote_time: 1_800_001_000,
        used: false,
        reason: "outlier: lies more than 200 basis points from the median",
      },
      { name: "coinbase", value: `2000${"0".repeat(18)}`, quote_time: 1_800_001_000, used: true, reason: null },
      { name: "kraken", value: `2001${"0".repeat(18)}`, quote_time: null, used: true, reason: null },
    ]);
    const { code, stdout } = await runProvider(["replay", "--json", segment()]);
    const value = BigInt(body.value).toString();
    const replayed = { key: "SPOTPX/ETH-USD", price: "2000", value, is_same: true, signed: { outcome: "OK", value } };
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining(replayed)]);

    folder = mkdtempSync(join(tmpdir(), "evidence-"));
    const none = await run(() => {
      exchanges.behave("coinbase", json('{"message":"ü\\u0007"}', 500));
      exchanges.behave("kraken", (response) => response.destroy());
    });
    expect(none.outcome).toBe("NOT_AVAILABLE");
    const [one, two, three] = [null, { code: "http_status" }, { code: "unreachable" }].map((dropped) => ({ dropped }));
    expect(await replayAll(segment())).toMatchObject([{ isSame: true, value: { sources: [one, two, three] } }]);
  });

  test("that was altered is detected", async () => {
    await run();
    const file = segment();
    const text = readFileSync(file, "utf8");
    const [found] = recordsIn(folder);
    const record = found?.record as SpotPriceRecord;
    const altered = async (change: object) => {
      writeChanged(file, text, (line) => (line.version === 1 ? { ...line, ...change } : line));
      return (await replayAll(file))[0];
    };
    const wrong = await altered({ value: `0x${"0".repeat(63)}1` });
    expect(wrong).toMatchObject({ isSame: false, decision: { value: record.value } });
    expect(await runCommand(["replay", file])).toMatchObject({ code: 1 });
    expect((await altered({ at: "1800009999" }))?.isSame).toBe(false);
    await expect(altered({ answers: record.answers.slice(1) })).rejects.toThrow("it has no answer from");
    await expect(altered({ surprise: 1 })).rejects.toThrow("/surprise");

    const stored = (gzip: Buffer | null) => {
      const change = gzip && { gzip: gzip.toString("base64") };
      writeChanged(file, text, (line) =>
        line.sha256 !== record.answers[0]?.text ? line : change && { ...line, ...change },
      );
    };
    stored(gzipSync("{}"));
    await expect(replayAll(file)).rejects.toThrow("it was changed");
    stored(gzipSync("x".repeat(5_000_000)));
    await expect(replayAll(file)).rejects.toThrow("cannot be read: ERR_BUFFER_TOO_LARGE");
    stored(null);
    const gone = /\.jsonl: the text [0-9a-f]{12}… is missing\./;
    expect(await runCommand(["replay", file])).toMatchObject({ code: 2, stderr: expect.stringMatching(gone) });
  });

  test("of several decisions is replayed whole, or as far as a key and a round choose it", async () => {
    exchanges.quote("2000", "2001", "2002");
    const provider = await start();
    const { body } = await provider.ask();
    provider.clock.now += 5;
    const later = (await provider.ask({ timestamp: body.timestamp + 5 })).body;
    await provider.close();
    const roundsOf = async (...args: string[]) => {
      const { code, stdout } = await runCommand(["replay", "--json", segment(), ...args]);
      return { code, rounds: [...stdout.matchAll(/"round": (\d+)/g)].map(([, round]) => Number(round)) };
    };
    const both = [body.timestamp, later.timestamp];
    expect(await roundsOf()).toEqual({ code: 0, rounds: both });
    expect(await roundsOf("--key", "SPOTPX/ETH-USD")).toEqual({ code: 0, rounds: both });
    expect(await roundsOf("--round", String(later.timestamp))).toEqual({ code: 0, rounds: [later.timestamp] });
    for (const args of [
      ["--key", "SPOTPX/BTC-USD"],
      ["--round", "1"],
      ["--round", "now"],
    ])
      expect(await roundsOf(...args)).toEqual({ code: 2, rounds: [] });
  });
});
