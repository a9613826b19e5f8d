import { createHash } from "node:crypto";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import type { ReportRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import { type Address, isAddressEqual } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

const KEY = spotPriceKey("ETH-USD");
const ROUND = 1_800_000_000;

let chain: Chain;
let providers: Provider[];
let provider: Provider;
let operator: RunningOperator;
let dataset: Address;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  operator = await startOperator([{ chain, datasets: [dataset], providers, settings: { providerTimeoutMs: 1_000 } }]);
  [provider] = providers as [Provider];
});
beforeEach(() => {
  provider.evidence = evidenceFor;
  provider.askedForEvidence.length = 0;
});

const SPEC = '{"a spec":"of a source"}';
const ANSWER = '{"price":"2000 ❤"}';
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** The evidence for a price from one source, as a provider answers it. */
function evidenceFor({ network_id, dataset, key, timestamp }: ReportRequest): EvidenceAnswer {
  const asked = { method: "GET", url: "https://api.example.com/", headers: {} } as const;
  const answer = { ...asked, text: hashOf(ANSWER), failure: null, detail: null, retry_after: null };
  return {
    provider: provider.address,
    record: {
      ...{ version: 1, kind: "spot_price", network_id, dataset, key, timestamp },
      ...{ outcome: "OK", value: `0x${"00".repeat(31)}01`, at: String(timestamp), overrides: {}, answers: [answer] },
      ...{ policy: { minSources: 1, maxDeviationBps: 200, maxQuoteAge: 120 }, specs: [hashOf(SPEC)] },
      sources: [{ name: "example", value: "1", quote_time: null, used: true, reason: null }],
    },
    texts: { [hashOf(SPEC)]: SPEC, [hashOf(ANSWER)]: ANSWER },
  };
}

let round = ROUND;
/** Each test asks about a round of its own, because answers are remembered. */
async function get(change: Record<string, string> = {}) {
  const query = {
    ...{ network_id: "42", dataset, key: "SPOTPX/ETH-USD", timestamp: String(++round), provider: provider.address },
    ...change,
  };
  const url = `${operator.base}/evidence?${new URLSearchParams(query)}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  return { status: response.status, body: (await response.json()) as EvidenceAnswer & { code: string } };
}

test("passes on the evidence of the provider that is named, whole, and asks it once", async () => {
  const timestamp = String(ROUND);
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => get({ timestamp })));
  expect(first).toEqual({
    status: 200,
    body: evidenceFor({ network_id: 42, dataset, key: KEY, timestamp: ROUND }),
  });
  for (const other of [...others, await get({ timestamp, key: KEY, provider: provider.address.toLowerCase() })]) {
    expect(other).toEqual(first);
  }
  expect(provider.askedForEvidence).toEqual([{ network_id: 42, dataset, key: KEY, timestamp: ROUND }]);
  for (const other of providers.slice(1)) expect(other.askedForEvidence).toEqual([]);
});

test("says so when the provider shows none, and asks again the next time", async () => {
  provider.evidence = null;
  const timestamp = String(ROUND + 1_000);
  const none = { status: 404, body: { code: "no_evidence", detail: expect.stringContaining("evidence_not_public") } };
  expect(await get({ timestamp })).toMatchObject(none);
  provider.evidence = evidenceFor;
  expect((await get({ timestamp })).status).toBe(200);
});

test.each<[string, (question: ReportRequest) => unknown]>([
  ["another round", (asked) => evidenceFor({ ...asked, timestamp: asked.timestamp - 1 })],
  ["another key", (asked) => evidenceFor({ ...asked, key: spotPriceKey("BTC-USD") })],
  ["another dataset", (asked) => evidenceFor({ ...asked, dataset: OWNER })],
  ["another network", (asked) => evidenceFor({ ...asked, network_id: 1 })],
  ["another provider", (asked) => ({ ...evidenceFor(asked), provider: OWNER })],
  ["texts that were changed", (asked) => ({ ...evidenceFor(asked), texts: { [hashOf(SPEC)]: ANSWER } })],
  ["a name that is not a hash", (asked) => ({ ...evidenceFor(asked), texts: { "../../x": SPEC } })],
  ["more than evidence", (asked) => ({ ...evidenceFor(asked), script: "alert(1)" })],
  ["too much", (asked) => ({ ...evidenceFor(asked), padding: "x".repeat(13_000_000) })],
  ["something else", () => "<html>"],
])("passes on nothing of a provider that answers with %s", async (_, evidence) => {
  provider.evidence = evidence;
  const { status, body } = await get();
  expect([status, body.code]).toEqual([502, "evidence_failed"]);
  expect(JSON.stringify(body)).not.toContain("alert");
});

test.each<[string, Record<string, string>, number, string]>([
  ["a provider that is not configured", { provider: OWNER }, 404, "unknown_provider"],
  ["a provider that is a URL", { provider: "http://127.0.0.1:1" }, 400, "invalid_query"],
  ["a round in another notation", { timestamp: "1e9" }, 400, "invalid_query"],
  ["no round", { timestamp: "" }, 400, "invalid_query"],
  ["another network", { network_id: "7" }, 422, "unknown_network"],
  ["a key of another form", { key: "nonsense" }, 422, "invalid_key"],
])("refuses %s without asking anyone", async (_, change, status, code) => {
  const answer = await get(change);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  for (const { askedForEvidence, address } of providers) {
    expect(isAddressEqual(address, OWNER)).toBe(false);
    expect(askedForEvidence).toEqual([]);
  }
});

test("has a limit for all callers together on what providers are asked", async () => {
  let code = "";
  for (let asked = 0; asked < 130 && code !== "too_many_requests"; asked++) code = (await get()).body.code;
  expect(code).toBe("too_many_requests");
  // The answers that are remembered cost no provider anything.
  expect((await get({ timestamp: String(ROUND) })).status).toBe(200);
});
