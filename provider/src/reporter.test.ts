import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spotPriceKey } from "@dataset-oracle/protocol/key";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { pino } from "pino";
import { Registry } from "prom-client";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { Decisions } from "./decisions.js";
import { Metrics } from "./metrics.js";
import { Recent } from "./recent.js";
import { Reporter } from "./reporter.js";
import { SourceReader } from "./source/reader.js";

const NOW = 1_800_000_000;
const key = spotPriceKey("ETH-USD");
const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/** A reporter with room for two decisions, of a key whose sources are none: it signs that there is no data. */
async function smallReporter(clock: { now: number }) {
  const folder = join(mkdtempSync(join(tmpdir(), "reporter-")), "database");
  const now = () => BigInt(clock.now);
  const dataset = {
    chainId: 42,
    address,
    kind: "median",
    keyForm: "SPOT_PRICE",
    keys: new Map([[key, { key, name: "SPOTPX/ETH-USD", sources: [] }]]),
    unservedKeys: [],
  } as const;
  return new Reporter({
    account: privateKeyToAccount(`0x${"11".repeat(32)}`),
    served: new Map([[42, new Map([[address, dataset]])]]),
    evidence: null,
    policy: { minSources: 2, maxDeviationBps: 200, maxQuoteAge: 120 },
    webOracle: null,
    reader: new SourceReader({ egress: new Egress(), timeoutMs: 1_000, hasReserve: false, now }),
    decisions: await Decisions.open(folder, { now: () => now() - 1_000n, capacity: 2 }),
    signedReports: new Recent(10),
    signedRows: new Recent(10),
    now,
    logger: pino({ level: "silent" }),
    metrics: new Metrics(new Registry()),
  });
}

const request = (timestamp: number) => ({ network_id: 42, dataset: address, key, timestamp });

describe("a reporter whose database is full", () => {
  it("refuses a further round, and still repeats those that it signed", async () => {
    const reporter = await smallReporter({ now: NOW });
    const first = await reporter.report(request(NOW), false);
    await reporter.report(request(NOW - 1), false);
    await expect(reporter.report(request(NOW - 2), false)).rejects.toMatchObject({
      status: 503,
      code: "too_many_rounds",
    });
    expect(await reporter.report(request(NOW), false)).toBe(first);
  });
});
