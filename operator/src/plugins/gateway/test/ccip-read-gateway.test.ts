import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { decodeUpdate } from "@dataset-oracle/protocol/decode-update-reports";
import { type Address, encodeFunctionData, type Hex, stringToHex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

const SENDER: Address = "0x00000000000000000000000000000000000000aA";
const KEY = "SPOTPX/ETH-USD";

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let limited: RunningOperator;
let dataset: Address;
/** How far the operator is ahead of this machine's clock. */
let aheadMs = 0;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const served = [{ chain, datasets: [dataset], providers, settings: { rpcPollMs: 100 } }];
  [operator, limited] = await Promise.all([
    startOperator(served, { basePath: "/oracle", clock: () => Date.now() + aheadMs }),
    startOperator(served, { newKeysPerMinute: 1, requestsPerMinute: 10 }),
  ]);
});
beforeEach(() => {
  for (const provider of providers) provider.behavior = "honest";
});

const callOf = (key: string, of = dataset) =>
  encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args: [of, stringToHex(key)] });

async function read(response: Response) {
  const { data, message, code } = (await response.json()) as Record<"data" | "message" | "code", Hex>;
  return { http: response.status, type: response.headers.get("content-type"), data, message, code };
}

const get = async (data: string, { network = "42", sender = SENDER as string, from = operator } = {}) =>
  read(await fetch(`${from.base}/data/gateway/${network}/${sender}/${data}`));

const post = async (body: unknown, { network = "42", from = operator } = {}) =>
  read(
    await fetch(`${from.base}/data/gateway/${network}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

test.each([
  ["GET", () => get(callOf(KEY))],
  [
    "GET of an upper-case address",
    () => get(callOf(KEY).replace(/a/g, "A"), { sender: SENDER.toUpperCase().replace("X", "x") }),
  ],
  ["POST", () => post({ sender: SENDER, data: callOf(KEY) })],
])("%s answers the calldata of an update that the dataset accepts", async (_, ask) => {
  const { http, type, data } = await ask();
  expect([http, type]).toEqual([200, expect.stringMatching("^application/json")]);
  const { data: result } = await chain.client.call({ account: OTHER_ACCOUNT, to: dataset, data });
  expect(BigInt((result ?? "0x").slice(0, 66))).toBe(1n);
});

test("the update is about the current round, signed by a quorum", async () => {
  const askedAt = Date.now() / 1000;
  const { data } = await get(callOf(KEY));
  const update = await decodeUpdate(data, { chainId: 42, dataset, key: stringToHex(KEY) });
  expect(Number(update?.round)).toBeGreaterThan(askedAt - 4);
  expect(Number(update?.round)).toBeLessThan(Date.now() / 1000);
  expect(update?.reports.length).toBeGreaterThanOrEqual(3);
});

const OTHER: Address = "0x00000000000000000000000000000000000000bb";

test.each<[string, () => ReturnType<typeof get>, number, string]>([
  ["another function", () => get(`0xdeadbeef${callOf(KEY).slice(10)}`), 400, "bad_request"],
  ["an empty key", () => get(callOf("")), 400, "bad_request"],
  ["a call that is too long", () => get(callOf("A".repeat(257))), 400, "bad_request"],
  ["no hex", () => get("0xnothex"), 400, "bad_request"],
  ["a sender that is not an address", () => get(callOf(KEY), { sender: "0x12" }), 400, "bad_request"],
  ["a network that is not a number", () => get(callOf(KEY), { network: "4e1" }), 400, "bad_request"],
  ["a body without data", () => post({ sender: SENDER }), 400, "invalid_body"],
  ["a network that is not served", () => get(callOf(KEY), { network: "1" }), 422, "unknown_network"],
  ["a dataset that is not served", () => get(callOf(KEY, OTHER)), 404, "unknown_dataset"],
  ["a key of another form", () => get(callOf("ETH-USD")), 422, "invalid_key"],
])("%s is refused with the standard's message before a provider is asked", async (_, ask, status, errorCode) => {
  const asked = providers.map((provider) => provider.asked.length);
  const { http, type, message, code } = await ask();
  expect([http, code, type]).toEqual([status, errorCode, expect.stringMatching("^application/json")]);
  expect(message).toMatch(/^[A-Z].+\.$/);
  expect(providers.map((provider) => provider.asked.length)).toEqual(asked);
});

test("a body of many bytes is refused", async () => {
  expect(await post({ sender: SENDER, data: `0x${"00".repeat(20_000)}` })).toMatchObject({
    http: 413,
    code: "body_too_large",
  });
});

test("without a quorum a client may ask the next gateway", async () => {
  for (const provider of providers) provider.behavior = "server error";
  expect(await get(callOf("SPOTPX/DOWN-USD"))).toMatchObject({ http: 503, code: "no_quorum" });
});

test("a key that the providers do not serve ends the search", async () => {
  for (const provider of providers) provider.behavior = "unknown key";
  expect(await get(callOf("SPOTPX/NONE-USD"))).toMatchObject({ http: 422, code: "unknown_key" });
});

test("the limits are those of data requests, and a client then asks the next gateway", async () => {
  const request = { network_id: 42, dataset, key: "SPOTPX/NEW-USD", broadcast: false };
  expect((await limited.post(request)).status).toBe(200);
  const url = `${limited.base}/data/gateway/42/${SENDER}`;
  const newKey = await fetch(`${url}/${callOf("SPOTPX/NEWER-USD")}`);
  expect([newKey.status, await newKey.text()]).toEqual([503, expect.stringContaining("too_many_requests")]);
  expect(Number(newKey.headers.get("retry-after"))).toBeGreaterThan(0);
  // A configured key is no new one.
  expect((await get(callOf(KEY), { from: limited })).http).toBe(200);
  for (let i = 0; i < 7; i++) await limited.post(request);
  expect(await get(callOf(KEY), { from: limited })).toMatchObject({ http: 503, code: "too_many_requests" });
});

test("pages of any origin may ask, and nobody caches the answer", async () => {
  const { headers } = await fetch(`${operator.base}/data/gateway/42/${SENDER}/${callOf(KEY)}`);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("cache-control")).toBe("no-store");
});

test("the metrics count lookups by their route, and not by what is in the path", async () => {
  await get(callOf(KEY));
  const text = await operator.registry.metrics();
  expect(text).toContain('route="/oracle/data/gateway/:networkId/:sender/:data",outcome="ok"');
  expect(text).not.toContain(callOf(KEY));
});

test("the answer waits for a block that its round is not ahead of", async () => {
  const { client } = chain;
  await client.setIntervalMining({ interval: 0 });
  try {
    aheadMs += 3_000;
    let isAnswered = false;
    const answer = get(callOf("SPOTPX/SLOW-USD")).then((got) => {
      isAnswered = true;
      return got;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isAnswered).toBe(false);
    await client.increaseTime({ seconds: 3 });
    await client.mine({ blocks: 1 });
    const { http, data } = await answer;
    expect(http).toBe(200);
    const update = await decodeUpdate(data, { chainId: 42, dataset, key: stringToHex("SPOTPX/SLOW-USD") });
    expect(Number(update?.round)).toBeLessThanOrEqual(Number((await client.getBlock()).timestamp));
  } finally {
    await client.setIntervalMining({ interval: 1 });
  }
});
