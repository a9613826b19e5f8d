import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readVerified, spotPriceKey } from "@dataset-oracle/protocol";
import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { decodeUpdate } from "@dataset-oracle/protocol/decode-update-reports";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import Fastify, { type FastifyReply } from "fastify";
import {
  type Address,
  type BaseError,
  createPublicClient,
  createWalletClient,
  custom,
  encodeFunctionData,
  type Hex,
  http,
  stringToHex,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OTHER_ACCOUNT } from "../../../../test/support/chain.js";
import { startCommittee } from "../../../../test/support/committee.js";
import { signedUpdate } from "../../../../test/support/signed-update.js";

const SENDER: Address = "0x00000000000000000000000000000000000000aA";
const KEY = "SPOTPX/ETH-USD";

/** How far the operator is ahead of this machine's clock. */
let aheadMs = 0;

const { chain, providers, dataset, start } = await startCommittee(4);
const settings = { rpcPollMs: 100 };
const [operator, limited] = await Promise.all([
  start(settings, { basePath: "/oracle", clock: clockOf(() => Date.now() + aheadMs) }),
  start(settings, { newKeysPerMinute: 1, requestsPerMinute: 10 }),
]);

beforeEach(() => {
  for (const provider of providers) provider.behavior = "honest";
});

describe("a lookup", () => {
  const callOf = (key: string, of = dataset) =>
    encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args: [of, stringToHex(key)] });

  async function read(response: Response) {
    const { data, message, code } = (await response.json()) as Record<"data" | "message" | "code", Hex>;
    return { http: response.status, headers: response.headers, data, message, code };
  }
  const get = async (data: string, { network = "42", sender = SENDER as string, from = operator } = {}) =>
    read(await fetch(`${from.base}/gateway/${network}/${sender}/${data}`));
  const post = async (body: unknown) => {
    const headers = { "content-type": "application/json" };
    return read(await fetch(`${operator.base}/gateway/42`, { method: "POST", headers, body: JSON.stringify(body) }));
  };

  test.each([
    ["GET", () => get(callOf(KEY).replace(/a/g, "A"), { sender: SENDER.toUpperCase().replace("X", "x") })],
    ["POST", () => post({ sender: SENDER, data: callOf(KEY) })],
  ])("by %s is answered with a packed update of now, which nobody caches", async (_, ask) => {
    const askedAt = Date.now() / 1000;
    const { http, headers, data } = await ask();
    expect(http).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(headers.get("cache-control")).toBe("no-store");
    const update = await decodeUpdate(encodeUpdateCall(data), { chainId: 42, dataset, key: stringToHex(KEY) });
    expect(Number(update?.round)).toBeGreaterThan(askedAt - 4);
    expect(update?.reports.length).toBeGreaterThanOrEqual(3);
    // The paths of requests are in no metric.
    expect(await operator.registry.metrics()).not.toContain(callOf(KEY).slice(10));
  });

  // What is no call of a lens: protocol/src/decode-fetch-update-call.test.ts.
  test.each<[string, () => ReturnType<typeof get>, number, string]>([
    ["another function", () => get(`0xdeadbeef${callOf(KEY).slice(10)}`), 400, "bad_request"],
    ["a sender that is not an address", () => get(callOf(KEY), { sender: "0x12" }), 400, "bad_request"],
    ["a network that is not a number", () => get(callOf(KEY), { network: "4e1" }), 400, "bad_request"],
    ["a body without data", () => post({ sender: SENDER }), 400, "invalid_body"],
    ["a network that is not served", () => get(callOf(KEY), { network: "1" }), 422, "unknown_network"],
    ["a dataset that is not served", () => get(callOf(KEY, OTHER_ACCOUNT)), 404, "unknown_dataset"],
    ["a key of another form", () => get(callOf("ETH-USD")), 422, "invalid_key"],
  ])("of %s is refused with the standard's message before a provider is asked", async (_, ask, status, errorCode) => {
    const asked = providers.map((provider) => provider.asked.length);
    const { http, headers, message, code } = await ask();
    expect([http, code]).toEqual([status, errorCode]);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(message).toMatch(/^[A-Z].+\.$/);
    expect(providers.map((provider) => provider.asked.length)).toEqual(asked);
  });

  // After a 4xx a client gives up, after a 5xx it asks the next gateway.
  test.each([
    ["without a quorum", "server error", "SPOTPX/DOWN-USD", 503, "no_quorum"],
    ["of a key that the providers do not serve", "unknown key", "SPOTPX/NONE-USD", 422, "unknown_key"],
  ] as const)("%s (%s, %s) is a %i", async (_, behavior, key, status, code) => {
    for (const provider of providers) provider.behavior = behavior;
    expect(await get(callOf(key))).toMatchObject({ http: status, code });
  });

  test("counts against the limits of data requests, and a client then asks the next gateway", async () => {
    const request = { network_id: 42, dataset, key: "SPOTPX/NEW-USD", broadcast: false };
    expect((await limited.post(request)).status).toBe(200);
    const newKey = await get(callOf("SPOTPX/NEWER-USD"), { from: limited });
    expect(newKey).toMatchObject({ http: 503, code: "too_many_requests" });
    expect(Number(newKey.headers.get("retry-after"))).toBeGreaterThan(0);
    // A configured key is no new one.
    expect((await get(callOf(KEY), { from: limited })).http).toBe(200);
    for (let i = 0; i < 7; i++) await limited.post(request);
    expect(await get(callOf(KEY), { from: limited })).toMatchObject({ http: 503, code: "too_many_requests" });
  });

  test("is answered once there is a block that its round is not ahead of", async () => {
    const { client } = chain;
    await client.setIntervalMining({ interval: 0 });
    try {
      aheadMs += 3_000;
      const answer = get(callOf("SPOTPX/SLOW-USD"));
      expect(await Promise.race([answer, sleep(500, "none")])).toBe("none");
      await client.increaseTime({ seconds: 3 });
      await client.mine({ blocks: 1 });
      const { http, data } = await answer;
      expect(http).toBe(200);
      const update = await decodeUpdate(encodeUpdateCall(data), {
        chainId: 42,
        dataset,
        key: stringToHex("SPOTPX/SLOW-USD"),
      });
      expect(Number(update?.round)).toBeLessThanOrEqual(Number((await client.getBlock()).timestamp));
    } finally {
      await client.setIntervalMining({ interval: 1 });
    }
  });

  test("says at once that a chain which makes blocks on demand has no new one", async () => {
    const { client } = chain;
    await client.setIntervalMining({ interval: 0 });
    aheadMs += 10_000;
    try {
      const { http, code, message } = await get(callOf("SPOTPX/ASLEEP-USD"));
      expect([http, code]).toEqual([503, "not_ready"]);
      expect(message).toMatch(/^The newest block of network 42 is \d+ s old\. A read executes in it/);
    } finally {
      aheadMs -= 10_000;
      await client.setIntervalMining({ interval: 1 });
    }
  });
});

// What the lens takes from a gateway, and what it refuses: test/lens/VerifiedLens.t.sol.
describe("a verified read", () => {
  /** The maximum age that is asked for, in seconds. */
  const MAX_AGE = 60;
  /** A gateway that answers as a test says, and counts. */
  const scripted = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 2_000 } });
  let asked = 0;
  let answer: (reply: FastifyReply) => unknown;
  /** The URLs of the operator's gateway, of the scripted one, and of one at which nobody listens. */
  let honest: string;
  let other: string;
  let dead: string;

  beforeAll(async () => {
    scripted.get("/:sender/:data", (_, reply) => {
      asked++;
      return answer(reply);
    });
    honest = `${operator.base}/gateway/42/{sender}/{data}`;
    other = `${await scripted.listen({ host: "127.0.0.1", port: 0 })}/{sender}/{data}`;
    const unused = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => unused.once("listening", resolve));
    dead = `http://127.0.0.1:${(unused.address() as AddressInfo).port}/{sender}/{data}`;
    await new Promise((resolve) => unused.close(resolve));
  });
  afterAll(() => scripted.close());
  beforeEach(() => {
    asked = 0;
  });

  const lensOf = (...gateways: string[]) => chain.deployContract("VerifiedLens", verifiedLensAbi, [gateways]);
  const clientOf = () => createPublicClient({ transport: http(chain.url, { retryCount: 0 }) });

  /** Reads as the documentation shows: with the library's own ERC-3668 support and none of this project's code. */
  const viemRead = async (lens: Address) => {
    const args = [dataset, stringToHex(KEY), BigInt(MAX_AGE)] as const;
    const call = { address: lens, abi: verifiedLensAbi, functionName: "read", args } as const;
    const [output, updatedAt, status] = await clientOf().readContract(call);
    return { value: BigInt(output), updatedAt, status: QUERY_STATUSES[status] ?? "" };
  };
  const clientRead = (lens: Address, key = KEY) => readVerified(clientOf(), { lens, dataset, key, maxAge: MAX_AGE });

  /** Makes an update of a round of this age that all providers sign. */
  const makeUpdate = (age: number, key = spotPriceKey("ETH-USD")) =>
    signedUpdate(dataset, key, BigInt(Math.floor(Date.now() / 1000) - age), providers);
  const median = () => providers[1]?.value;

  describe.each([
    ["viem", viemRead],
    ["readVerified", clientRead],
  ])("by %s", (_, read) => {
    test("gives a current value, with no transaction, no payment and nothing stored", async () => {
      const askedAt = Date.now() / 1000;
      for (const gateway of [honest, `${operator.base}/gateway/42`]) {
        const { value, updatedAt, status } = await read(await lensOf(gateway));
        expect([value, status]).toEqual([median(), "OK"]);
        expect(Number(updatedAt)).toBeGreaterThan(askedAt - 3);
      }
      expect(await chain.client.getBalance({ address: dataset })).toBe(0n);
      expect(await chain.updates(dataset)).toEqual([]);
      expect(await chain.client.getTransactionCount({ address: operator.account.address })).toBe(0);
    });

    test("goes on to the next gateway after one that is dead, that fails, or that lies", async () => {
      const [foreign, old] = [await makeUpdate(4, spotPriceKey("BTC-USD")), await makeUpdate(1_000)];
      const lens = await lensOf(dead, other, honest);
      for (const bad of [
        (reply: FastifyReply) => reply.status(503).type("text/html").send("<html>"),
        (reply: FastifyReply) => reply.send({ data: foreign }),
        (reply: FastifyReply) => reply.send({ data: old }),
      ]) {
        [asked, answer] = [0, bad];
        expect((await read(lens)).value).toBe(median());
        expect(asked).toBeGreaterThan(0);
      }
    });
  });

  test("by readVerified proves that the providers have no data, and that they disagree", async () => {
    const lens = await lensOf(honest);
    const split = spotPriceKey("SPLIT-USD");
    providers.forEach((provider, i) => void provider.values.set(split, 10n ** 18n * BigInt(i + 1)));
    expect(await clientRead(lens, split)).toMatchObject({ value: 0n, status: "DISAGREEMENT" });
    for (const provider of providers) provider.behavior = "no data";
    const { value, updatedAt, status } = await clientRead(lens, spotPriceKey("EMPTY-USD"));
    expect([value, status]).toEqual([0n, "NOT_AVAILABLE"]);
    expect(updatedAt).toBeGreaterThan(0n);
  });

  describe("that fails says in its error's short message", () => {
    const shortMessageOf = (read: Promise<unknown>): Promise<string> =>
      read.then(
        () => "There is no error.",
        ({ shortMessage }: BaseError) => shortMessage,
      );

    test.each<[string, () => Promise<Hex>, RegExp]>([
      ["the lens's error", () => makeUpdate(MAX_AGE + 20), /"read" reverted with TooOld\(\d+, 60\)\.$/],
      ["the dataset's error", () => makeUpdate(1_000), /"read" reverted with ExpiredRound\(\d+, 300\)\.$/],
      ["what is no update", async () => "0xdeadbeef", /"read" reverted with NotAnUpdate\(222\)\.$/],
    ])("%s", async (_, lie, message) => {
      const data = await lie();
      answer = (reply) => reply.send({ data });
      expect(await shortMessageOf(clientRead(await lensOf(other)))).toMatch(message);
    });
  });

  test("by readVerified needs no payment, whatever account a client has or a node fills in", async () => {
    const node = http(chain.url)({});
    const request = async ({ method, params }: { method: string; params?: unknown }) => {
      if (method !== "eth_call") return node.request({ method, params });
      const [call, ...state] = params as object[];
      return node.request({ method, params: [{ from: `0x${"ff".repeat(19)}fe`, ...call }, ...state] });
    };
    for (const create of [createWalletClient, createPublicClient]) {
      const client = create({ account: OTHER_ACCOUNT, transport: custom({ request }) });
      const result = await readVerified(client, { lens: await lensOf(honest), dataset, key: KEY, maxAge: MAX_AGE });
      expect(result).toMatchObject({ status: "OK", value: median() });
    }
  });
});
