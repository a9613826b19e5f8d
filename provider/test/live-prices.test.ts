import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import { createCertificateAuthority } from "@dataset-oracle/tools/certificates";
import { Value } from "@sinclair/typebox/value";
import { parseUnits } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { ProviderConfig } from "../src/config.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import type { SourceUse } from "../src/value/combined-value.js";
import { decidePrice } from "../src/value/spot-price.js";
import { askForReport, spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { loadRecordedAnswers, type RecordedExchangeAnswer } from "./support/recorded-answers.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const REDIRECT_CONNECTIONS = fileURLToPath(new URL("support/redirect-connections.cjs", import.meta.url));
const HOSTS = Object.values(EXCHANGE_ORIGINS).map((origin) => new URL(origin).host);
const SOURCES = loadSources([SHIPPED_SOURCES]);

/** Returns the first recorded answer with a price that is read from this URL. */
function findRecordedAnswer(url: string): RecordedExchangeAnswer | undefined {
  const source = SOURCES.find(({ origin }) => origin === new URL(url).origin);
  return loadRecordedAnswers(source?.name ?? "").answers.find(({ prices }) =>
    Object.keys(prices).some((pair) => source?.queries.get(pair)?.request.url === url),
  );
}

/** Replaces the time of an answer's quotes by the present, in whatever unit the exchange writes it. */
function present({ body, quotedAt }: RecordedExchangeAnswer): string {
  if (quotedAt === null) return body;
  const now = new Date();
  const iso = new Date(quotedAt * 1_000).toISOString().slice(0, -".000Z".length);
  return body
    .replace(new RegExp(`${iso}(?:\\.\\d+)?Z`, "g"), now.toISOString())
    .replace(new RegExp(`\\b${quotedAt}(\\d{3})?\\b`, "g"), (_, milliseconds) =>
      String(milliseconds === undefined ? Math.floor(now.getTime() / 1_000) : now.getTime()),
    );
}

/** The prices of BTC-USD in the recorded answers. None can be converted from USDT, because no answer has its rate. */
const BTC_USD = SOURCES.flatMap(({ name, queries }): SourceUse[] => {
  const query = queries.get("BTC-USD");
  const recorded = query?.rate === null ? findRecordedAnswer(query.request.url)?.prices["BTC-USD"] : undefined;
  if (recorded === undefined) return [];
  return [{ source: name, quote: { value: parseUnits(recorded, 18), quotedAt: null }, dropped: null }];
});

test("a provider's process signs the exact price that the exchanges' recorded answers give over TLS, under their own names", async () => {
  const authority = createCertificateAuthority();
  const asked = new Set<string>();
  const exchanges = createServer(authority.issue(HOSTS), ({ headers: { host = "" }, url }, response) => {
    asked.add(host);
    const answer = findRecordedAnswer(`https://${host}${url}`);
    response.setHeader("content-type", "application/json");
    if (answer === undefined) response.writeHead(404).end('{"message":"NotFound"}');
    else response.end(present(answer));
  }).listen(0, "127.0.0.1");
  await once(exchanges, "listening");
  onTestFinished(() => {
    exchanges.closeAllConnections();
    exchanges.close();
  });
  const { config } = writeConfig({ excludedSources: [] }, 42, ["SPOTPX/BTC-USD"]);
  const provider = spawnProvider(["serve", "--config", config], {
    PROVIDER_PRIVATE_KEY: PRIVATE_KEY,
    NODE_OPTIONS: `--require=${REDIRECT_CONNECTIONS}`,
    NODE_EXTRA_CA_CERTS: authority.file,
    REDIRECT_PORT: String((exchanges.address() as AddressInfo).port),
    REDIRECT_HOSTS: HOSTS.join(","),
  });
  onTestFinished(() => void provider.child.kill("SIGKILL"));
  const url = await untilListening(provider);
  await untilReady(url);
  const { status, body } = await askForReport(url, Math.floor(Date.now() / 1_000), "BTC-USD");
  expect({ status, ...body }).toMatchObject({ status: 200, outcome: "OK" });
  const expected = decidePrice(BTC_USD, { policy: Value.Create(ProviderConfig), at: 0n });
  expect(expected).toMatchObject({ kind: "value", value: BigInt(body.value) });
  const read = body.sources?.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]));
  expect(read).toEqual(BTC_USD.map(({ source, quote }) => [source, String(quote?.value)]));
  const knowing = SOURCES.filter(({ queries }) => queries.has("BTC-USD")).map(({ origin }) => new URL(origin).host);
  expect([...asked].toSorted()).toEqual(knowing.toSorted());
});
