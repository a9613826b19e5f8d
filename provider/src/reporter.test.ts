import { spotPriceKey } from "@dataset-oracle/protocol/key";
import type { SignedReport } from "@dataset-oracle/protocol/wire";
import { pino } from "pino";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { Reporter } from "./reporter.js";
import { Rounds } from "./rounds.js";
import { SourceReader } from "./source/reader.js";

const NOW = 1_800_000_000;
const key = spotPriceKey("ETH-USD");
const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/** A reporter that remembers two rounds, of a key whose sources are none: it signs that there is no data. */
function smallReporter(clock: { now: number }) {
  const dataset = {
    chainId: 42,
    address,
    keyForm: "SPOT_PRICE",
    keys: new Map([[key, { key, name: "SPOTPX/ETH-USD", sources: [] }]]),
    unservedKeys: [],
  } as const;
  return new Reporter({
    account: privateKeyToAccount(`0x${"11".repeat(32)}`),
    served: new Map([[42, new Map([[address, dataset]])]]),
    minSources: 2,
    reader: new SourceReader({ timeoutMs: 1_000, hasReserve: false, now: () => BigInt(clock.now) }),
    rounds: new Rounds<SignedReport>(2, 0n),
    state: { coverBefore: () => {} },
    now: () => BigInt(clock.now),
    logger: pino({ level: "silent" }),
  });
}

const request = (timestamp: number) => ({ network_id: 42, dataset: address, key, timestamp });

describe("a reporter whose memory of rounds is full", () => {
  it("refuses a further round, and still repeats those that it signed", async () => {
    const reporter = smallReporter({ now: NOW });
    const first = await reporter.report(request(NOW), false);
    await reporter.report(request(NOW - 1), false);
    await expect(reporter.report(request(NOW - 2), false)).rejects.toMatchObject({
      status: 503,
      code: "too_many_rounds",
    });
    expect(await reporter.report(request(NOW), false)).toBe(first);
  });

  it("signs again once its oldest round is out of the window, and never signs that one again", async () => {
    const clock = { now: NOW };
    const reporter = smallReporter(clock);
    await reporter.report(request(NOW), false);
    await reporter.report(request(NOW + 1), false);
    clock.now = NOW + 10;
    await expect(reporter.report(request(NOW + 10), false)).rejects.toMatchObject({ code: "too_many_rounds" });
    clock.now = NOW + 11;
    expect((await reporter.report(request(NOW + 11), false)).outcome).toBe("NOT_AVAILABLE");
    await expect(reporter.report(request(NOW), false)).rejects.toMatchObject({ code: "round_too_old" });
    clock.now = NOW;
    await expect(reporter.report(request(NOW), false)).rejects.toMatchObject({ code: "round_forgotten" });
  });
});
