import type { UnsentTransaction } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { type Hex, keccak256, parseEther, stringToHex } from "viem";
import { describe, expect, onTestFinished, test } from "vitest";
import { OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { nextRound } from "./support/next-round.js";
import { startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

const WEB_KEY = `WEB/${"ab".repeat(32)}/London`;

const [chain, other, providers] = await Promise.all([startChain(42), startChain(1), startProviders(4)]);
const members = providers.map(({ address }) => address);
const [dataset, elsewhere] = await Promise.all([chain.deploy(members), other.deploy(members)]);
const web = await chain.deploy(members, { keyForm: "WEB_ORACLE" });
const webOracle: DeployedDataset = { name: "web", address: web, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
const settings = { gasPerHourForNewKeys: 30_000_000 };
const operator = await startOperator([
  { chain, datasets: [dataset, webOracle], providers, settings },
  { chain: other, datasets: [elsewhere], providers },
]);

const body = (key: string, broadcast: boolean, more: object = {}) => ({
  network_id: 42,
  dataset,
  key,
  broadcast,
  ...more,
});

async function sendAsIs(transaction: UnsentTransaction | undefined): Promise<Hex> {
  const params = [{ ...transaction, from: OTHER_ACCOUNT }];
  const hash = await chain.client.request({ method: "eth_sendTransaction", params } as never);
  await chain.wait(hash);
  return hash;
}

describe("broadcast true", () => {
  test("is answered with the median, and query shows it", async () => {
    const before = await chain.query(dataset, "SPOTPX/ETH-USD");
    expect(before).toEqual({ value: 0n, updatedAt: 0n, status: "NOT_AVAILABLE" });

    const answer = await operator.ask(body("SPOTPX/ETH-USD", true));
    const median = parseEther("2000") + 1n;
    expect(answer).toEqual({
      network_id: 42,
      dataset,
      key: "SPOTPX/ETH-USD",
      key_hex: stringToHex("SPOTPX/ETH-USD"),
      status: "OK",
      value: median.toString(),
      timestamp: expect.any(Number),
      reports: providers.map(({ address, value }) => ({
        provider: address,
        value: value.toString(),
        signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      })),
      transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(Math.abs(answer.timestamp - Date.now() / 1000)).toBeLessThan(10);

    await chain.wait(answer.transaction_hash as Hex);
    const after = await chain.query(dataset, "SPOTPX/ETH-USD");
    expect(after).toEqual({ value: median, updatedAt: BigInt(answer.timestamp), status: "OK" });
  });

  test("ASCII and hex, in either case, share one update", async () => {
    const ascii = "SPOTPX/BTC-USD";
    const hex = stringToHex(ascii);
    const upper = `0x${hex.slice(2).toUpperCase()}`;
    await nextRound();
    const asked = providers[0]?.asked.length ?? 0;
    const keys = [ascii, hex, upper, ascii, hex];
    const answers = await Promise.all(keys.map((key) => operator.ask(body(key, true))));
    // These requests are of one round, unless a second begins in between.
    const rounds = new Set(answers.map(({ timestamp }) => timestamp));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(rounds.size);
    expect((providers[0]?.asked.length ?? 0) - asked).toBe(rounds.size);
    expect(new Set(answers.map(({ key_hex }) => key_hex))).toEqual(new Set([hex]));
    await chain.wait(answers[0]?.transaction_hash as Hex);
    const updates = (await chain.updates(dataset)).filter(({ keyHash }) => keyHash === keccak256(hex));
    expect(updates.length).toBe(rounds.size);
  });

  test("with Prefer: wait is answered when it is mined", async () => {
    const response = await operator.post(body("SPOTPX/ADA-USD", true), { prefer: "respond-async, wait=10" });
    expect(response.headers.get("preference-applied")).toBe("wait=10");
    const { timestamp } = (await response.json()) as { timestamp: number };
    expect(await chain.query(dataset, "SPOTPX/ADA-USD")).toMatchObject({ updatedAt: BigInt(timestamp), status: "OK" });
  });

  test("a wait of more than 60 s is cut to 60 s", async () => {
    const response = await operator.post(body("SPOTPX/ADA-USD", true), { prefer: "wait=3600" });
    expect(response.status).toBe(200);
    expect(response.headers.get("preference-applied")).toBe("wait=60");
  });

  test("twenty concurrent requests are all mined, each with its own nonce", async () => {
    const keys = Array.from({ length: 20 }, (_, i) => `SPOTPX/K${i}-USD`);
    const nonce = await chain.nonce(operator.account.address);
    const answers = await Promise.all(keys.map((key) => operator.ask(body(key, true), { prefer: "wait=20" })));
    const hashes = answers.map(({ transaction_hash }) => transaction_hash as Hex);
    const sent = await Promise.all(hashes.map((hash) => chain.client.getTransaction({ hash })));
    expect(sent.map((transaction) => transaction.nonce).toSorted((a, b) => a - b)).toEqual(
      keys.map((_, i) => nonce + i),
    );
    for (const key of keys) expect((await chain.query(dataset, key)).status).toBe("OK");
  });
});

describe("broadcast false", () => {
  test("does not use a nonce, and anyone can send the returned transaction unchanged", async () => {
    const nonce = await chain.nonce(operator.account.address);
    const answer = await operator.ask(body("SPOTPX/SOL-USD", false));
    expect(answer).not.toHaveProperty("transaction_hash");
    expect(answer.transaction).toEqual({
      chainId: "0x2a",
      to: dataset,
      data: expect.stringMatching(/^0x[0-9a-f]+$/),
      gas: expect.stringMatching(/^0x[0-9a-f]+$/),
      gasLimit: answer.transaction?.gas,
    });
    const gas = Number(answer.transaction?.gas);
    const { data } = answer.transaction ?? {};
    expect(answer.transaction_request).toEqual({ chainId: 42, to: dataset, data, gas, gasLimit: gas });
    expect((await chain.query(dataset, "SPOTPX/SOL-USD")).updatedAt).toBe(0n);

    await sendAsIs(answer.transaction);
    expect(await chain.query(dataset, "SPOTPX/SOL-USD")).toEqual({
      value: BigInt(answer.value),
      updatedAt: BigInt(answer.timestamp),
      status: "OK",
    });
    expect(await chain.nonce(operator.account.address)).toBe(nonce);
  });

  test("shares the reports with broadcast true", async () => {
    await nextRound();
    const asked = providers[0]?.asked.length ?? 0;
    const [sent, unsent] = await Promise.all([
      operator.ask(body("SPOTPX/LTC-USD", true)),
      operator.ask(body("SPOTPX/LTC-USD", false)),
    ]);
    const rounds = new Set([sent.timestamp, unsent.timestamp]).size;
    expect((providers[0]?.asked.length ?? 0) - asked).toBe(rounds);
  });

  test.each([
    ["during a broadcast of the same key", "SPOTPX/BCH-USD", [true, false]],
    ["and the same key is broadcast meanwhile", "SPOTPX/UNI-USD", [false, true]],
  ])("gives a usable transaction when requested %s", async (_, key, order) => {
    for (const provider of providers) provider.behavior = "slow";
    const asking = [];
    for (const broadcast of order) {
      const asked = providers[0]?.asked.length;
      asking.push(operator.ask(body(key, broadcast), { prefer: "wait=10" }));
      if (asking.length === 1) await expect.poll(() => providers[0]?.asked.length).not.toBe(asked);
    }
    const answers = await Promise.all(asking);
    for (const provider of providers) provider.behavior = "honest";
    const [sent, unsent] = order[0] ? answers : answers.toReversed();
    expect(unsent?.timestamp).toBeGreaterThan(sent?.timestamp ?? 0);
    await sendAsIs(unsent?.transaction);
    expect((await chain.query(dataset, key)).updatedAt).toBe(BigInt(unsent?.timestamp ?? 0));
  });

  test("gives a usable transaction right after a broadcast of the same key", async () => {
    const sent = await operator.ask(body("SPOTPX/XRP-USD", true));
    const unsent = await operator.ask(body("SPOTPX/XRP-USD", false));
    expect(unsent.timestamp).toBeGreaterThan(sent.timestamp);
    await sendAsIs(unsent.transaction);
    expect((await chain.query(dataset, "SPOTPX/XRP-USD")).updatedAt).toBe(BigInt(unsent.timestamp));
  });
});

test("a round that a newer one of the same operator overtakes is answered with the newer one's transaction", async () => {
  let now = Date.now() - 5_000;
  // The older request holds the providers' answers until the newer one has been answered.
  const served = { chain, datasets: [dataset], providers, settings: { providerTimeoutMs: 20_000 } };
  const { ask, close } = await startOperator([served], { clock: () => now });
  onTestFinished(close);
  const key = "SPOTPX/OVERTAKEN-USD";
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = () => providers.filter(({ asked }) => asked.some((report) => report.key === stringToHex(key)));
  for (const provider of providers) Object.assign(provider, { behavior: "slow", delay: () => held });
  const older = ask(body(key, true));
  await expect.poll(() => asked().length, { timeout: 10_000 }).toBe(4);
  for (const provider of providers) provider.behavior = "honest";
  now += 1_000;
  // The newer round is pending when the older one's reports arrive.
  await chain.client.setIntervalMining({ interval: 0 });
  onTestFinished(() => chain.client.setIntervalMining({ interval: 1 }));
  const newer = await ask(body(key, true));
  release();
  expect(await older).toEqual(newer);
  expect(newer.transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
  await chain.client.setIntervalMining({ interval: 1 });
  await chain.wait(newer.transaction_hash as Hex);
});

test("a Web Oracle dataset works the same", async () => {
  const answer = await operator.ask(body(WEB_KEY, true, { dataset: web }), { prefer: "wait=10" });
  expect(answer).toMatchObject({ dataset: web, key: WEB_KEY, status: "OK" });
  expect(await chain.query(web, WEB_KEY)).toMatchObject({ updatedAt: BigInt(answer.timestamp), status: "OK" });
});

test("only the named network, dataset and key change", async () => {
  const before = [await chain.updates(dataset), await chain.updates(web)];
  const nonce = await chain.nonce(operator.account.address);
  const key = "SPOTPX/ETH-USD";
  const answer = await operator.ask(body(key, true, { network_id: 1, dataset: elsewhere }), { prefer: "wait=10" });
  const updates = await other.updates(elsewhere);
  expect(updates.map(({ keyHash, timestamp }) => ({ keyHash, timestamp }))).toEqual([
    { keyHash: keccak256(stringToHex(key)), timestamp: BigInt(answer.timestamp) },
  ]);
  expect([await chain.updates(dataset), await chain.updates(web)]).toEqual(before);
  expect(await chain.nonce(operator.account.address)).toBe(nonce);

  // Both chains have a dataset at that address; the Web Oracle's is on one.
  expect(elsewhere).toBe(dataset);
  const problem = await operator.askForProblem(body(WEB_KEY, true, { network_id: 1, dataset: web }));
  expect([problem.http, problem.code]).toEqual([404, "unknown_dataset"]);
});

describe("Accept: text/event-stream", () => {
  async function events(key: string, broadcast: boolean, headers: Record<string, string> = {}) {
    const response = await operator.post(body(key, broadcast), { accept: "text/event-stream", ...headers });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const text = await response.text();
    return text
      .trimEnd()
      .split("\n\n")
      .map((block) => {
        const [event, data] = block.split("\n");
        return { event: event?.replace("event: ", ""), data: JSON.parse(data?.replace("data: ", "") ?? "") };
      });
  }

  test("streams the progress, and then the answer", async () => {
    const seen = await events("SPOTPX/DOT-USD", true);
    const names = seen.map(({ event }) => event);
    expect(names).toEqual([
      "asked",
      ...["report", "report", "report", "report"],
      ...["signed", "sent", "mined", "answer"],
    ]);
    const answer = seen.at(-1)?.data;
    expect(seen.at(-2)?.data.transaction_hash).toBe(answer.transaction_hash);
    expect(seen[4]?.data).toMatchObject({ received: 4, of: 4 });
    expect((await chain.query(dataset, "SPOTPX/DOT-USD")).updatedAt).toBe(BigInt(answer.timestamp));
  });

  test("streams a transaction that the caller sends", async () => {
    const seen = await events("SPOTPX/DOT-EUR", false);
    expect(seen.at(-1)).toMatchObject({ event: "answer", data: { transaction: { to: dataset } } });
  });

  test("ends with a problem, as JSON would", async () => {
    for (const provider of providers) provider.behavior = "unknown key";
    const seen = await events("SPOTPX/NO-USD", true);
    for (const provider of providers) provider.behavior = "honest";
    expect(seen.at(-1)).toMatchObject({ event: "problem", data: { status: 422, code: "unknown_key" } });
  });

  test("a body that is not valid is an ordinary problem", async () => {
    const problem = await operator.askForProblem(body("0x5", true), { accept: "text/event-stream" });
    expect(problem.http).toBe(400);
  });

  test("a caller that disconnects does not affect the others", async () => {
    for (const provider of providers) provider.behavior = "slow";
    const leaving = new AbortController();
    const gone = fetch(`${operator.base}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(body("SPOTPX/GONE-USD", true)),
      signal: leaving.signal,
    })
      .then((response) => response.text())
      .catch((error: Error) => error.name);
    setTimeout(() => leaving.abort(), 100);
    const answer = await operator.ask(body("SPOTPX/GONE-USD", true), { prefer: "wait=10" });
    expect(await gone).toBe("AbortError");
    for (const provider of providers) provider.behavior = "honest";
    // The two requests can fall into different seconds, and then each has a round of its own.
    const { updatedAt } = await chain.query(dataset, "SPOTPX/GONE-USD");
    expect(updatedAt).toBeGreaterThanOrEqual(BigInt(answer.timestamp));
  });
});
