import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { type Address, type Hex, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Alert } from "../src/alerts/alert.js";
import { Webhook } from "../src/alerts/webhook.js";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { nextRound } from "./support/next-round.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";
const TOKEN = "token-nobody-may-see";
const HEARTBEAT = 1_000;

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
let server: Server;
let url: string;
const received: Alert[] = [];
/** The statuses of the next answers; 204 after them. */
const statuses: number[] = [];
/** How far the operator's clock is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = statuses.shift() ?? 204;
    if (status < 300) received.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(status, status === 302 ? { location: url } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}`;
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const feed = { dataset, keys: [KEY], heartbeatSeconds: HEARTBEAT, deviationBps: 50, minIntervalSeconds: 1 };
  const settings = { feeds: [feed], feedPollMs: 100 };
  // Without a key it updates nothing by itself.
  operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], {
    hasSender: false,
    alertWebhooks: [url],
    clock: () => Date.now() + ahead,
  });
});

afterAll(async () => {
  server?.close();
});

async function store(): Promise<void> {
  const { transaction } = await operator.ask({ network_id: 42, dataset, key: KEY, broadcast: false });
  const { to, data } = transaction as { to: Address; data: Hex };
  await chain.wait(await chain.client.sendTransaction({ account: OTHER_ACCOUNT, chain: null, to, data }));
}

const events = () => received.map(({ event }) => event);
const readFeed = async () => {
  const response = await fetch(`${operator.base}/alerts`);
  expect(response.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
  return response.text();
};

test("tells of a feed that was never stored, is stale, is in disagreement or has no value, and of each recovery", async () => {
  expect(await readFeed()).not.toContain("<entry>");
  ahead = 2 * HEARTBEAT * 1_000;
  await expect.poll(events).toEqual(["stale"]);
  expect(received[0]).toMatchObject({ title: `${KEY} is stale: it has never been stored.`, timestamp: 0 });
  expect(await readFeed()).toContain(": never stored.</content>");
  ahead = 0;
  await store();
  await expect.poll(events).toEqual(["stale", "recovered"]);
  received.length = 0;
  ahead = 2 * HEARTBEAT * 1_000;
  await expect.poll(events).toEqual(["stale"]);
  expect(received[0]).toMatchObject({
    title: `${KEY} is stale: it has not been updated for more than one and a half heartbeats.`,
    ...{ network_id: 42, dataset, key: KEY, key_hex: stringToHex(KEY), status: "OK" },
  });
  ahead = 0;
  await expect.poll(events).toEqual(["stale", "recovered"]);
  for (const [index, provider] of providers.entries())
    provider.values.set(stringToHex(KEY), (10n ** 18n) << BigInt(index));
  await nextRound();
  await store();
  await expect.poll(events).toEqual(["stale", "recovered", "disagreement"]);
  for (const provider of providers) provider.behavior = "no data";
  await nextRound();
  await store();
  await expect.poll(events).toEqual(["stale", "recovered", "disagreement", "no_value"]);
  expect(received[3]).toMatchObject({ title: `${KEY} has no value: the data providers have none.` });
  const feed = await readFeed();
  expect(feed.match(/<category term="\w+"\/>/g)?.slice(0, 4)).toEqual(
    ["no_value", "disagreement", "recovered", "stale"].map((event) => `<category term="${event}"/>`),
  );
  for (const { id } of received) expect(feed).toContain(`<id>urn:uuid:${id}</id>`);
});

/** Posts one alert, and returns what was logged once it was taken or given up. */
async function post(answers: readonly number[], to = url): Promise<string> {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  statuses.push(...answers);
  const before = received.length;
  new Webhook(to, logger, new AbortController().signal, [1, 1, 1]).send({ id: "one" } as Alert);
  await expect.poll(() => lines.length + received.length - before).toBeGreaterThan(0);
  return lines.join("");
}

test("sends an alert again until it is taken, and gives it up after the fourth failure", async () => {
  expect(await post([500, 302, 429])).toBe("");
  expect(received.at(-1)?.id).toBe("one");
  const log = await post([500, 500, 500, 500]);
  expect(log).toContain("an alert was dropped");
  expect(log).toContain("HTTP 500");
});

test("never writes the URL of a webhook to the log", async () => {
  const log = await post([], `http://127.0.0.1:1/${TOKEN}`);
  expect(log).toContain("unreachable");
  for (const text of [log, ...operator.log]) expect(text).not.toContain(TOKEN);
});
