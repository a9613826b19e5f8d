import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { NODE_SIGNATURE_HEADER, signNodeRequest } from "@dataset-oracle/protocol/node-request-signature";
import Fastify, { type FastifyInstance } from "fastify";
import { type Address, getAddress, type Hex, keccak256, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { FORWARDED_PATH } from "../src/peers/forwarding.js";
import type { Node } from "../src/peers/node-list.js";
import { type Chain, startChain } from "./support/chain.js";
import { closeAtEnd } from "./support/close-at-end.js";
import { findKeyByNodeRank } from "./support/find-key-by-node-rank.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { signedUpdate } from "./support/signed-update.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run two nodes on one chain, and a third that only the tests speak for. */

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let peers: Node[];
const operators: RunningOperator[] = [];
const accounts: PrivateKeyAccount[] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()));
const [, , pretender = accounts[0] as PrivateKeyAccount] = accounts;
/** Answers for the third node. It refuses by default. */
let answer: (body: unknown) => Promise<unknown> | unknown;
let third: FastifyInstance;

/** Turns change each minute, so the clock of the nodes begins with one. */
const behindMs = Date.now() % 60_000;
/** When the clock stands still, so that requests are made in one second however long they take. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now() - behindMs;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  third = Fastify({ forceCloseConnections: true });
  third.post(FORWARDED_PATH, async (request, reply) => {
    const said = await answer(request.body);
    return said === null ? reply.status(503).send({}) : said;
  });
  const ports = await Promise.all(accounts.map(() => freePort()));
  peers = accounts.map(({ address: submitter }, i) => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${ports[i]}`, submitter };
  });
  await third.listen({ port: ports[2] ?? 0 });
  closeAtEnd(() => third.close());
  for (const [i, account] of accounts.slice(0, 2).entries()) {
    const settings = { peers };
    const served = { chain, datasets: [dataset], providers, settings };
    operators.push(await startOperator([served], { account, clock, port: ports[i] ?? 0 }));
  }
});
afterEach(() => {
  stopped = null;
  answer = () => null;
});

const body = (key: string) => ({ network_id: 42, dataset, key, broadcast: true });

let asked = 0;
/** Finds keys that nobody has asked for, by the order of their turns, which does not change in the next ten seconds. */
async function keyWhere(isIt: (turns: readonly Address[]) => boolean): Promise<string> {
  const leftMs = 60_000 - (clock() % 60_000);
  if (leftMs < 10_000) await sleep(leftMs);
  return findKeyByNodeRank(operators[0] as RunningOperator, dataset, isIt, `K${asked++}X`, clock());
}
const before = (first: number, second: number) => (order: readonly Address[]) =>
  order.indexOf(accounts[first]?.address ?? "0x") < order.indexOf(accounts[second]?.address ?? "0x");
const isFirst = (i: number) => (order: readonly Address[]) => order[0] === accounts[i]?.address;

async function updatesOf(key: string) {
  const all = await chain.updates(dataset);
  return all.filter(({ keyHash }) => keyHash === keccak256(stringToHex(key)));
}

async function senderOf(hash: Hex | null | undefined): Promise<Address> {
  const { from } = await chain.client.getTransaction({ hash: hash ?? "0x" });
  return getAddress(from);
}

test("two nodes that are asked for one key in one second send one transaction, the one whose turn it is", async () => {
  // The first request of a process takes longer.
  for (const { ask } of operators) await ask(body(await keyWhere(() => true)), { prefer: "wait=20" });
  const before = await Promise.all(accounts.map(({ address }) => chain.nonce(address)));
  const keys = [await keyWhere(isFirst(0)), await keyWhere(isFirst(1))];
  stopped = clock();
  const answers = await Promise.all(
    keys.map((key) => Promise.all(operators.map(({ ask }) => ask(body(key), { prefer: "wait=20" })))),
  );
  stopped = null;
  for (const [i, both] of answers.entries()) {
    expect(both[0]).toEqual(both[1]);
    expect(both[0]).toMatchObject({ status: "OK", key: keys[i] });
    expect(both[0]?.reports.length).toBeGreaterThanOrEqual(3);
    expect(await senderOf(both[0]?.transaction_hash as Hex)).toBe(accounts[i]?.address);
    expect(await updatesOf(keys[i] ?? "")).toHaveLength(1);
  }
  const after = await Promise.all(accounts.map(({ address }) => chain.nonce(address)));
  expect(after.reduce((a, b) => a + b) - before.reduce((a, b) => a + b)).toBe(keys.length);
});

test("a stream tells what the other node did", async () => {
  const key = await keyWhere(isFirst(1));
  const response = await operators[0]?.post(body(key), { accept: "text/event-stream" });
  const events = [...((await response?.text()) ?? "").matchAll(/^event: (\w+)$/gm)].map(([, event]) => event);
  expect(events.filter((event) => event !== "report")).toEqual(["asked", "signed", "sent", "mined", "answer"]);
  expect(events.filter((event) => event === "report").length).toBeGreaterThanOrEqual(3);
});

/** Has providers sign a value of 5, and returns the update and its reports as the answer to a request has them. */
async function signed(key: string, of: readonly Provider[] = providers) {
  const timestamp = round();
  const members = of.map(({ account }) => ({ account, value: 5n }));
  const { data, reports } = await signedUpdate(dataset, stringToHex(key), BigInt(timestamp), members);
  return { data, timestamp, reports: reports.map((report) => ({ ...report, value: "5" })) };
}
const round = () => Math.floor(clock() / 1000) - 2;
const says = (key: string, { timestamp = round(), reports }: { timestamp?: number; reports: object[] }, raw?: Hex) => ({
  ...{ network_id: 42, dataset, key, key_hex: stringToHex(key), status: "OK", value: "5", timestamp, reports },
  transaction_hash: raw === undefined ? `0x${"ab".repeat(32)}` : keccak256(raw),
});
const signTransaction = (data: Hex) =>
  pretender.signTransaction({ chainId: 42, nonce: 0, to: dataset, data, gas: 500_000n, gasPrice: 10n ** 10n });

describe("a node whose answer does not hold is passed over:", () => {
  async function expectServedByItself(key: string): Promise<void> {
    const { transaction_hash, status, reports } = (await operators[0]?.ask(body(key), { prefer: "wait=20" })) ?? {};
    expect(await senderOf(transaction_hash as Hex)).toBe(accounts[0]?.address);
    expect(status).toBe("OK");
    expect(reports?.length).toBeGreaterThanOrEqual(3);
    expect(await updatesOf(key)).toHaveLength(1);
  }
  const thirdThenFirst = (order: readonly Address[]) => isFirst(2)(order) && before(0, 1)(order);
  const ownTransaction = () => signTransaction("0x12345678");

  test("it is no answer", async () => {
    answer = () => ({ hello: "world" });
    await expectServedByItself(await keyWhere(thirdThenFirst));
  });

  test("it says that another relayer has stored the round, and the chain does not have it", async () => {
    const key = await keyWhere(thirdThenFirst);
    answer = () => ({ answer: says(key, { reports: [] }), transaction: null });
    await expectServedByItself(key);
  });

  test("its reports are signed, and its transaction is another", async () => {
    const key = await keyWhere(thirdThenFirst);
    answer = async () => ({ answer: says(key, await signed(key)), transaction: await ownTransaction() });
    await expectServedByItself(key);
    expect(operators[0]?.log.join()).toContain("its transaction is not the update with its reports");
  });

  test("its reports are of too few members", async () => {
    const key = await keyWhere(thirdThenFirst);
    answer = async () => ({
      answer: says(key, await signed(key, providers.slice(0, 2))),
      transaction: await ownTransaction(),
    });
    await expectServedByItself(key);
  });

  test("its reports are not signed by their providers", async () => {
    const key = await keyWhere(thirdThenFirst);
    answer = async () => {
      const { timestamp, reports } = await signed(key);
      const altered = reports.map((report) => ({ ...report, value: "6" }));
      return { answer: says(key, { timestamp, reports: altered }), transaction: await ownTransaction() };
    };
    await expectServedByItself(key);
  });

  test("it does not answer within 2 s, and is then not asked for a while", async () => {
    let times = 0;
    answer = () => {
      times++;
      return sleep(3_000, null);
    };
    await expectServedByItself(await keyWhere(thirdThenFirst));
    await expectServedByItself(await keyWhere(thirdThenFirst));
    expect(times).toBe(1);
  });
});

test("a round whose sender has lost its transaction is sent by the node that answered for it", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.fund(pretender.address);
  // This operator lists only itself, with a short stuckSeconds, and the third node.
  const list = [{ ...(peers[0] as Node), submitter: account.address }, peers[2] as Node];
  const settings = { peers: list, stuckSeconds: 1 };
  const patient = await startOperator([{ chain, datasets: [dataset], providers, settings }], { account, clock });
  const key = await keyWhere(before(2, 0));
  const update = await signed(key);
  const raw = await signTransaction(update.data);
  answer = () => ({ answer: says(key, update, raw), transaction: raw });
  await chain.client.setIntervalMining({ interval: 0 });
  const { transaction_hash } = await patient.ask(body(key));
  expect(transaction_hash).toBe(keccak256(raw));
  await chain.client.dropTransaction({ hash: keccak256(raw) });
  await chain.client.setIntervalMining({ interval: 1 });
  await expect.poll(async () => (await updatesOf(key)).length, { timeout: 15_000 }).toBe(1);
  const [stored] = await updatesOf(key);
  expect(await senderOf(stored?.transactionHash)).toBe(account.address);
  await patient.close();
});

describe("a forwarded request", () => {
  async function forward(
    key: string,
    sign: { by?: PrivateKeyAccount; receiver?: Address; time?: number; path?: string; signedKey?: string } = {},
  ) {
    const text = (of: string) => textOf(stringToHex(of));
    const { by = pretender, receiver = accounts[0]?.address ?? "0x", time = clock(), path = FORWARDED_PATH } = sign;
    const request = { chainId: 42, path, body: text(sign.signedKey ?? key), time, receiver };
    return send(text(key), await signNodeRequest(by, request));
  }
  const textOf = (key: Hex) => JSON.stringify({ network_id: 42, dataset, key, timestamp: round() });
  async function send(text: string, signature: string | null, base = operators[0]?.base) {
    const response = await fetch(`${base}${FORWARDED_PATH}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(signature !== null && { [NODE_SIGNATURE_HEADER]: signature }),
      },
      body: text,
    });
    return { status: response.status, json: (await response.json()) as { code?: string; transaction?: Hex } };
  }

  test("is served by the node that gets it, and not forwarded again, though it is another's turn", async () => {
    const key = await keyWhere(isFirst(1));
    const { status, json } = await forward(key);
    expect(status).toBe(200);
    expect(await senderOf(keccak256(json.transaction ?? "0x"))).toBe(accounts[0]?.address);
  });

  test("is refused unless a listed node signed this very request, for this node, within 10 s, and it is not a replay", async () => {
    const key = await keyWhere(isFirst(0));
    const stranger = privateKeyToAccount(generatePrivateKey());
    const refused = { status: 401, json: { code: "unknown_node" } };
    const text = textOf(stringToHex(key));
    expect(await send(text, null)).toMatchObject(refused);
    expect(await send(text, "1790000000000 0x00")).toMatchObject(refused);
    expect(await forward(key, { by: stranger })).toMatchObject(refused);
    expect(await forward(key, { by: accounts[0] as PrivateKeyAccount })).toMatchObject(refused);
    expect(await forward(key, { receiver: accounts[1]?.address ?? "0x" })).toMatchObject(refused);
    expect(await forward(key, { time: clock() - 11_000 })).toMatchObject(refused);
    expect(await forward(key, { time: clock() + 11_000 })).toMatchObject(refused);
    expect(await forward(key, { path: "/transactions" })).toMatchObject(refused);
    expect(await forward(key, { signedKey: "SPOTPX/OTHER-USD" })).toMatchObject(refused);
    expect(await updatesOf(key)).toEqual([]);
    const receiver = accounts[0]?.address ?? "0x";
    const request = { chainId: 42, path: FORWARDED_PATH, body: text, time: clock(), receiver };
    const signature = await signNodeRequest(pretender, request);
    expect((await send(text, signature)).status).toBe(200);
    expect(await send(text, signature)).toMatchObject(refused);
  });

  test("counts against the limit of its node", async () => {
    const settings = { peers: peers.map((peer, i) => (i === 0 ? { ...peer, url: "http://127.0.0.1:9" } : peer)) };
    const account = accounts[0] as PrivateKeyAccount;
    const served = { chain, datasets: [dataset], providers, settings };
    const limited = await startOperator([served], { account, clock, nodeRequestsPerMinute: 2 });
    const statuses: number[] = [];
    for (const by of [pretender, pretender, pretender, accounts[1] as PrivateKeyAccount]) {
      // This dataset's keys do not have this form, so that nothing is sent.
      const text = textOf("0x00");
      const request = { chainId: 42, path: FORWARDED_PATH, body: text, time: clock(), receiver: account.address };
      const { status } = await send(text, await signNodeRequest(by, request), limited.base);
      statuses.push(status);
    }
    await limited.close();
    expect(statuses).toEqual([422, 422, 429, 422]);
  });
});

test("an operator by itself has no path for nodes", async () => {
  const alone = await startOperator([{ chain, datasets: [dataset], providers }]);
  const response = await fetch(`${alone.base}${FORWARDED_PATH}`, { method: "POST" });
  expect(response.status).toBe(404);
  await alone.close();
});
