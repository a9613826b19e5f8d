import { type AddressInfo, createServer } from "node:net";
import { readVerified, spotPriceKey } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import Fastify, { type FastifyReply } from "fastify";
import {
  type Address,
  type BaseError,
  type ContractFunctionArgs,
  createPublicClient,
  createWalletClient,
  custom,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { signedUpdate } from "../../../../test/support/signed-update.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

const KEY = spotPriceKey("ETH-USD");
const OTHER_KEY = spotPriceKey("BTC-USD");
/** The maximum age that most tests ask for, in seconds. The chain has a block a second. */
const MAX_AGE = 20;

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
let otherDataset: Address;
let members: Address[];
let gateway: Awaited<ReturnType<typeof startGateway>>;
/** The URL of the operator's gateway, and one at which nobody listens. */
let honest: string;
let dead: string;

/** A gateway that answers as a test says, and counts. */
async function startGateway() {
  const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 2_000 } });
  const state = { asked: 0, answer: (reply: FastifyReply): unknown => reply.status(500).send({ message: "Not set." }) };
  app.get("/:sender/:data", (_request, reply) => {
    state.asked++;
    return state.answer(reply);
  });
  app.post("/", (_request, reply) => {
    state.asked++;
    return state.answer(reply);
  });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return Object.assign(state, { get: `${base}/{sender}/{data}`, post: `${base}/`, close: () => app.close() });
}

beforeAll(async () => {
  [chain, providers, gateway] = await Promise.all([startChain(), startProviders(4), startGateway()]);
  members = providers.map(({ address }) => address);
  dataset = await chain.deploy(members);
  otherDataset = await chain.deploy(members);
  operator = await startOperator([{ chain, datasets: [dataset], providers }]);
  honest = `${operator.base}/data/gateway/42/{sender}/{data}`;
  const unused = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => unused.once("listening", resolve));
  dead = `http://127.0.0.1:${(unused.address() as AddressInfo).port}/{sender}/{data}`;
  await new Promise((resolve) => unused.close(resolve));
});
afterAll(async () => {
  await gateway?.close();
});
beforeEach(() => {
  gateway.asked = 0;
  for (const provider of providers) Object.assign(provider, { behavior: "honest" });
});

const lenses = new Map<string, Promise<Address>>();
/** Returns a lens that names these gateways. */
function lensOf(...gateways: string[]): Promise<Address> {
  const id = gateways.join();
  const lens = lenses.get(id) ?? chain.deployContract("VerifiedLens", verifiedLensAbi, [gateways]);
  lenses.set(id, lens);
  return lens;
}

type Read = (
  lens: Address,
  key?: Hex,
  maxAge?: number,
) => Promise<{ value: bigint; updatedAt: bigint; status: string }>;

/** Reads as the documentation shows: with the library's own ERC-3668 support and none of this project's code. */
const viemRead: Read = async (lens, key = KEY, maxAge = MAX_AGE) => {
  const client = createPublicClient({ transport: http(chain.url, { retryCount: 0 }) });
  const [output, updatedAt, status] = await client.readContract({
    address: lens,
    abi: verifiedLensAbi,
    functionName: "read",
    args: [dataset, key, BigInt(maxAge)],
  });
  return { value: BigInt(output), updatedAt, status: QUERY_STATUSES[status] ?? "" };
};

const clientRead: Read = async (lens, key = KEY, maxAge = MAX_AGE) =>
  readVerified(createPublicClient({ transport: http(chain.url, { retryCount: 0 }) }), {
    lens,
    dataset,
    key,
    maxAge,
  });

const READS: [name: string, read: Read][] = [
  ["viem", viemRead],
  ["readVerified", clientRead],
];

interface Forgery {
  readonly key?: Hex;
  readonly of?: Address;
  readonly age?: number;
  readonly signers?: readonly Pick<Provider, "account" | "value">[];
}

/** Makes an update that is signed in full, by any accounts and about anything. */
async function makeUpdate({ key = KEY, of = dataset, age = 4, signers = providers }: Forgery = {}): Promise<Hex> {
  const round = BigInt(Math.floor(Date.now() / 1000) - age);
  return (await signedUpdate(of, key, round, signers)).data;
}

type UpdateArguments = ContractFunctionArgs<typeof datasetAbi, "nonpayable", "update">;

/** Alters the arguments of an update that the committee signed. */
async function altered(alter: (args: UpdateArguments) => UpdateArguments): Promise<Hex> {
  const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data: await makeUpdate() });
  if (functionName !== "update") throw new Error(functionName);
  return encodeFunctionData({ abi: datasetAbi, functionName, args: alter(args) });
}

const MEDIAN = () => providers[1]?.value;

describe.each(READS)("%s", (_, read) => {
  test("reads a current value, with no transaction, no payment and nothing stored", async () => {
    const before = await chain.client.getTransactionCount({ address: operator.account.address });
    const { value, updatedAt, status } = await read(await lensOf(honest));
    expect([value, status]).toEqual([MEDIAN(), "OK"]);
    expect(Date.now() / 1000 - Number(updatedAt)).toBeLessThan(6);
    expect(await chain.client.getBalance({ address: dataset })).toBe(0n);
    expect(await chain.updates(dataset)).toEqual([]);
    expect(await chain.client.getTransactionCount({ address: operator.account.address })).toBe(before);
  });

  test("reads through a gateway that takes a POST", async () => {
    const { value } = await read(await lensOf(`${operator.base}/data/gateway/42`));
    expect(value).toBe(MEDIAN());
  });

  test("proves that the providers have no data, and that they disagree", async () => {
    const lens = await lensOf(honest);
    const [none, split] = [spotPriceKey("NONE-USD"), spotPriceKey("SPLIT-USD")];
    providers.forEach((provider, i) => void provider.values.set(split, 10n ** 18n * BigInt(i + 1)));
    expect(await read(lens, split)).toMatchObject({ value: 0n, status: "DISAGREEMENT" });
    for (const provider of providers) provider.behavior = "no data";
    const { value, updatedAt, status } = await read(lens, none);
    expect([value, status]).toEqual([0n, "NOT_AVAILABLE"]);
    expect(updatedAt).toBeGreaterThan(0n);
  });

  test("goes on to the next gateway after one that is dead, fails, or has no answer", async () => {
    const lens = await lensOf(dead, gateway.get, honest);
    for (const answer of [
      (reply: FastifyReply) => reply.status(500).send({ message: "Down." }),
      (reply: FastifyReply) => reply.status(503).type("text/html").send("<html>"),
      (reply: FastifyReply) => reply.send({}),
      (reply: FastifyReply) => reply.raw.destroy(),
    ]) {
      Object.assign(gateway, { answer, asked: 0 });
      expect((await read(lens)).value).toBe(MEDIAN());
      expect(gateway.asked).toBeGreaterThan(0);
    }
  });

  test("goes on to the next gateways after those that lie", async () => {
    const lies = [await makeUpdate({ key: OTHER_KEY }), await makeUpdate({ age: 1_000 }), "0x"];
    gateway.answer = (reply) => reply.send({ data: lies[gateway.asked % 3] });
    expect((await read(await lensOf(dead, gateway.get, gateway.post, honest))).value).toBe(MEDIAN());
    expect(gateway.asked).toBeGreaterThan(1);
  });

  test("takes a value from any gateway that has the reports", async () => {
    const data = await makeUpdate();
    gateway.answer = (reply) => reply.send({ data });
    expect((await read(await lensOf(gateway.get))).value).toBe(MEDIAN());
  });

  test("rejects when no gateway answers", async () => {
    await expect(read(await lensOf(dead))).rejects.toThrow();
  });

  test("rejects what the operator refuses", async () => {
    for (const provider of providers) provider.behavior = "server error";
    await expect(read(await lensOf(honest), spotPriceKey("DOWN-USD"))).rejects.toThrow();
  });

  test.each<[string, () => Promise<Hex>]>([
    ["a value that was not signed", () => altered((args) => args.with(2, numberToHex(1n, { size: 32 })) as never)],
    [
      "a report that was altered",
      () =>
        altered(([key, round, value, signers, [first, ...reports], ...rest]) => {
          if (first === undefined) throw new Error("There is no report.");
          return [key, round, value, signers, [{ ...first, content: value }, ...reports], ...rest];
        }),
    ],
    ["a round that was altered", () => altered((args) => args.with(1, args[1] - 1n) as never)],
    ["a round that is too old for the caller", () => makeUpdate({ age: MAX_AGE + 20 })],
    ["a round that is too old for the dataset", () => makeUpdate({ age: 1_000 })],
    ["a round of the future", () => makeUpdate({ age: -1_000 })],
    ["an update of another key", () => makeUpdate({ key: OTHER_KEY })],
    ["an update of another dataset", () => makeUpdate({ of: otherDataset })],
    [
      "an update that others signed",
      () =>
        makeUpdate({
          signers: providers.map(({ value }) => ({ account: privateKeyToAccount(generatePrivateKey()), value })),
        }),
    ],
    ["an announcement", async () => encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [KEY] })],
    [
      "its own question",
      async () => encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args: [dataset, KEY] }),
    ],
    ["another selector", async () => `0xdeadbeef${(await makeUpdate()).slice(10)}`],
    ["a part of an update", async () => (await makeUpdate()).slice(0, -200) as Hex],
    ["garbage", async () => keccak256(KEY)],
    ["nothing", async () => "0x"],
    ["a large answer", async () => `0x${"5a".repeat(400_000)}`],
  ])("takes no value from a gateway that answers %s", async (_name, lie) => {
    const data = await lie();
    gateway.answer = (reply) => reply.send({ data });
    await expect(read(await lensOf(gateway.get))).rejects.toThrow();
    expect(gateway.asked).toBeGreaterThan(0);
  });

  test.each<[string, (reply: FastifyReply) => unknown]>([
    ["text that is not hex", (reply) => reply.send({ data: "a value" })],
    ["a number", (reply) => reply.send({ data: 3000 })],
    ["no JSON", (reply) => reply.type("application/json").send("<html>")],
  ])("takes no value from a gateway that answers %s", async (_name, answer) => {
    gateway.answer = answer;
    await expect(read(await lensOf(gateway.get))).rejects.toThrow();
  });
});

test.each([400, 404, 429])("viem, answered with %i, asks the next gateway", async (status) => {
  gateway.answer = (reply) => reply.status(status).send({ message: "No." });
  expect((await viemRead(await lensOf(gateway.get, honest))).value).toBe(MEDIAN());
});

test("a read that names a sender is rejected with an error that says so", async () => {
  const lens = await lensOf(honest);
  const call = {
    address: lens,
    abi: verifiedLensAbi,
    functionName: "read",
    args: [dataset, KEY, BigInt(MAX_AGE)],
  } as const;
  await expect(chain.client.readContract({ ...call, account: OTHER_ACCOUNT })).rejects.toThrow(
    `CallNamesSender(address sender)`,
  );
});

test.each<[string, (reply: FastifyReply) => unknown]>([
  ["sends close to a megabyte", (reply) => reply.send({ data: `0x${"5a".repeat(450_000)}` })],
  [
    "never ends its answer",
    (reply) => {
      reply.raw.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => reply.raw.write(" "), 20);
      reply.raw.on("close", () => clearInterval(drip));
    },
  ],
  ["never begins to answer", () => new Promise(() => {})],
])("readVerified asks the next gateway after one that %s", async (_name, answer) => {
  const client = createPublicClient({ transport: http(chain.url, { retryCount: 0 }) });
  const parameters = { dataset, key: "SPOTPX/ETH-USD", maxAge: MAX_AGE, gatewayTimeoutMs: 5_000 };
  gateway.answer = answer;
  const result = await readVerified(client, { ...parameters, lens: await lensOf(gateway.get, honest) });
  expect([result.value, gateway.asked]).toEqual([MEDIAN(), 1]);
  const alone = readVerified(client, { ...parameters, lens: await lensOf(gateway.post) });
  await expect(alone).rejects.toThrow(`No gateway answered. ${gateway.post}: `);
});

describe("readVerified says in its error's short message", () => {
  const shortMessageOf = (read: Promise<unknown>): Promise<string> =>
    read.then(
      () => "There is no error.",
      ({ shortMessage }: BaseError) => shortMessage,
    );

  test("why no gateway has an answer", async () => {
    for (const provider of providers) provider.behavior = "server error";
    gateway.answer = (reply) => reply.send({ data: "a value" });
    const lens = await lensOf(dead, gateway.get, honest);
    const message = await shortMessageOf(clientRead(lens, spotPriceKey("DOWN-USD")));
    expect(message).toMatch(/^No gateway answered\. /);
    expect(message).toContain(`${dead}: connect ECONNREFUSED 127.0.0.1`);
    expect(message).toContain(`${gateway.get}: an answer without data in hex`);
    expect(message).toContain(`${honest}: HTTP 503: No quorum: more than two thirds`);
  });

  test.each<[string, () => Promise<Hex>, RegExp]>([
    ["the lens's error", () => makeUpdate({ age: MAX_AGE + 20 }), /"read" reverted with TooOld\(\d+, 20\)\.$/],
    ["the dataset's error", () => makeUpdate({ age: 1_000 }), /"read" reverted with ExpiredRound\(\d+, 300\)\.$/],
    ["what is no update", async () => "0xdeadbeef", /"read" reverted with NotAnUpdate\(0xdeadbeef\)\.$/],
  ])("%s", async (_, lie, message) => {
    const data = await lie();
    gateway.answer = (reply) => reply.send({ data });
    expect(await shortMessageOf(clientRead(await lensOf(gateway.get)))).toMatch(message);
  });

  test("that a contract without an error is probably another one", async () => {
    const message = await shortMessageOf(clientRead(dataset));
    expect(message).toContain("reverted without a reason: check the addresses of the lens and the dataset.");
  });
});

test.each([
  ["wallet client", createWalletClient],
  ["public client", createPublicClient],
])("readVerified does not use the account of a %s", async (_name, create) => {
  const client = create({ account: OTHER_ACCOUNT, transport: http(chain.url) });
  const result = await readVerified(client, { lens: await lensOf(honest), dataset, key: "SPOTPX/ETH-USD", maxAge: 8n });
  expect(result).toMatchObject({ status: "OK", value: MEDIAN() });
});

test("readVerified needs no payment on a node that fills in a sender where a call has none", async () => {
  const SYSTEM_USER = "0xfffffffffffffffffffffffffffffffffffffffe";
  const node = http(chain.url)({});
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    if (method !== "eth_call") return node.request({ method, params });
    const [call, ...state] = params as object[];
    return node.request({ method, params: [{ from: SYSTEM_USER, ...call }, ...state] });
  };
  const client = createPublicClient({ transport: custom({ request }) });
  const lens = await lensOf(honest);
  const result = await readVerified(client, { lens, dataset, key: "SPOTPX/ETH-USD", maxAge: 8n });
  expect(result).toMatchObject({ status: "OK", value: MEDIAN() });
});

test("readVerified refuses an invalid key before it asks anyone", async () => {
  const client = createPublicClient({ transport: http(dead) });
  await expect(readVerified(client, { lens: dataset, dataset, key: "0x1", maxAge: 1 })).rejects.toThrow("key");
});

test("a stored value that is fresh enough is read without a gateway", async () => {
  const key = "SPOTPX/STORED-USD";
  const { timestamp } = await operator.ask({ network_id: 42, dataset, key, broadcast: true }, { prefer: "wait=10" });
  const lens = await lensOf(gateway.get);
  for (const [, read] of READS) {
    expect(await read(lens, spotPriceKey("STORED-USD"), 60)).toMatchObject({
      updatedAt: BigInt(timestamp),
      status: "OK",
    });
  }
  expect(gateway.asked).toBe(0);
});
