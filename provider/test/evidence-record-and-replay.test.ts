import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { replay } from "../src/evidence/replay.js";
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

/** The decisions' files, the oldest first. */
const records = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => join(folder, file));

describe("evidence", () => {
  const run = async (change: () => void = () => {}) => {
    exchanges.quote("2000", "2001", "2500");
    change();
    const provider = await startProvider({
      redirectedOrigins: exchanges.redirectedOrigins,
      evidence: { folder, maxMegabytes: 1 },
    });
    const { body } = await provider.ask();
    await provider.close();
    return body;
  };

  it("of a price with an outlier and of no price is replayed too, and the answer says why", async () => {
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
    const { code, stdout } = await runProvider(["replay", "--json", records()[0] ?? ""]);
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
    expect(await replay(records()[0] ?? "")).toMatchObject({ isSame: true, value: { sources: [one, two, three] } });
  });

  it("that was altered is detected", async () => {
    await run();
    const file = records()[0] ?? "";
    const record = JSON.parse(readFileSync(file, "utf8"));
    const altered = (change: object) => {
      writeFileSync(file, JSON.stringify({ ...record, ...change }));
      return replay(file);
    };
    const wrong = await altered({ value: `0x${"0".repeat(63)}1` });
    expect(wrong).toMatchObject({ isSame: false, decision: { value: record.value } });
    expect(await runCommand(["replay", file])).toMatchObject({ code: 1 });
    expect((await altered({ at: "1800009999" })).isSame).toBe(false);
    await expect(altered({ answers: record.answers.slice(1) })).rejects.toThrow("it has no answer from");
    await expect(altered({ surprise: 1 })).rejects.toThrow("/surprise");
    await altered({});
    const stored = join(file, "..", `${record.answers[0].text}.gz`);
    writeFileSync(stored, gzipSync("{}"));
    await expect(replay(file)).rejects.toThrow("it was changed");
    writeFileSync(stored, gzipSync("x".repeat(5_000_000)));
    await expect(replay(file)).rejects.toThrow("cannot be read: ERR_BUFFER_TOO_LARGE");
    rmSync(stored);
    const gone = /\/[0-9a-f]{12}….gz cannot be read: ENOENT\./;
    expect(await runCommand(["replay", file])).toMatchObject({ code: 2, stderr: expect.stringMatching(gone) });
  });
});
