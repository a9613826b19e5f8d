import { fileURLToPath } from "node:url";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { Value } from "@sinclair/typebox/value";
import { parseUnits } from "viem";
import { expect, it, onTestFinished } from "vitest";
import type { SourceUse } from "../src/combined-value.js";
import { ProviderConfig } from "../src/config.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { decidePrice } from "../src/spot-price.js";
import { spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { DATASET, PRIVATE_KEY } from "./support/test-provider.js";
import { findRecordedAnswer, HOSTS, startTlsExchanges } from "./support/tls-exchanges.js";

const REDIRECT_CONNECTIONS = fileURLToPath(new URL("support/redirect-connections.cjs", import.meta.url));

/** The prices of BTC-USD in the recorded answers. None can be converted from USDT, because no answer has its rate. */
const BTC_USD = loadSources([SHIPPED_SOURCES]).flatMap(({ name, queries }): SourceUse[] => {
  const query = queries.get("BTC-USD");
  const recorded = query?.rate === null ? findRecordedAnswer(query.request.url)?.prices["BTC-USD"] : undefined;
  if (recorded === undefined) return [];
  return [{ source: name, quote: { value: parseUnits(recorded, 18), quotedAt: null }, dropped: null }];
});

it("a provider's process signs the exact price that the exchanges' recorded answers give over TLS, under their own names", async () => {
  const authority = createCertificateAuthority();
  const exchanges = await startTlsExchanges(authority.issue(HOSTS), true);
  onTestFinished(() => exchanges.close());
  const { config } = writeConfig({ excludedSources: [] }, 42, ["SPOTPX/BTC-USD"]);
  const provider = spawnProvider(["serve", "--config", config], {
    PROVIDER_PRIVATE_KEY: PRIVATE_KEY,
    NODE_OPTIONS: `--require=${REDIRECT_CONNECTIONS}`,
    NODE_EXTRA_CA_CERTS: authority.file,
    REDIRECT_PORT: String(exchanges.port),
    REDIRECT_HOSTS: HOSTS.join(","),
  });
  onTestFinished(() => void provider.child.kill("SIGKILL"));
  const url = await untilListening(provider);
  await untilReady(url);
  const response = await fetch(`${url}/report`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      network_id: 42,
      dataset: DATASET,
      key: spotPriceKey("BTC-USD"),
      timestamp: Math.floor(Date.now() / 1_000),
    }),
    signal: AbortSignal.timeout(60_000),
  });
  const body = (await response.json()) as { value: string; sources: { name: string; value: string | null }[] };
  expect({ status: response.status, ...body }).toMatchObject({ status: 200, outcome: "OK" });
  const expected = decidePrice(BTC_USD, { policy: Value.Create(ProviderConfig), at: 0n });
  expect(expected).toMatchObject({ kind: "value", value: BigInt(body.value) });
  const values = body.sources.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]));
  expect(values).toEqual(BTC_USD.map(({ source, quote }) => [source, String(quote?.value)]));
  const asked = new Set(exchanges.requests.map((request) => new URL(request).host));
  expect([...asked].sort()).toEqual([...HOSTS].sort());
});
