import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { expect, onTestFinished, test } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { replayAll, segmentsIn } from "./support/evidence.js";
import { spotPriceDeployment } from "./support/spot-price-deployment.js";
import { startProvider } from "./support/test-provider.js";

test("the devnet's market answers for every pair of every exchange, and the evidence is replayed into the same values", async () => {
  const market = await startMarket({ seed: 8 });
  onTestFinished(() => market.close());
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  const sources = loadSources([SHIPPED_SOURCES]);
  const keys = MARKET_PAIRS.map(({ pair }) => spotPriceKey(pair));
  const provider = await startProvider(
    { redirectedOrigins: marketRedirects(market.url), evidence: { folder, maxMegabytes: 100 } },
    { start: Math.floor(Date.now() / 1_000) - 1_000, sources, deployments: [spotPriceDeployment({ keys })] },
  );
  const answers = [];
  for (const key of keys) answers.push((await provider.ask({ key })).body);
  await provider.close();
  for (const [i, { pair, start }] of MARKET_PAIRS.entries()) {
    const read = sources.filter(({ queries }) => queries.has(pair)).map(({ name }) => name);
    expect(answers[i], pair).toMatchObject({ sources: read.map((name) => ({ name, used: true })) });
    expect(Number(BigInt(answers[i].value)) / 1e18 / Number(start), pair).toBeCloseTo(1, 1);
  }
  const replayed = await replayAll(...segmentsIn(folder));
  expect(replayed).toHaveLength(keys.length);
  for (const { record, decision, isSame } of replayed) {
    const { outcome, value } = answers.find(({ key }) => key === record.key);
    expect([isSame, decision, outcome]).toEqual([true, { outcome, value }, "OK"]);
  }
});
