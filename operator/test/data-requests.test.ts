import type { DataAnswer, UnsentTransaction } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { DeployedDataset } from "@dataset-oracle/service/config/deployment";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { type Hex, keccak256, parseEther, stringToHex } from "viem";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { startCommittee, WAIT } from "./support/committee.js";
import { nextRound } from "./support/next-round.js";
import { startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

const WEB_KEY = `WEB/${"ab".repeat(32)}/London`;

const [{ chain, providers, members, dataset, body, start }, other] = await Promise.all([
  startCommittee(4),
  startChain(1),
]);
const elsewhere = await other.deploy(members);
const web = await chain.deploy(members, { keyForm: "WEB_ORACLE" });
const webOracle: DeployedDataset = { name: "web", address: web, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
const settings = { gasPerHourForNewKeys: 30_000_000 };
const operator = await startOperator([
  { chain, datasets: [dataset, webOracle], providers, settings },
  { chain: other, datasets: [elsewhere], providers },
]);

let stopped: number | null = null;
/** An operator of the dataset whose clock can be stopped. */
const clocked = await start({ providerTimeoutMs: 60_000 }, { clock: clockOf(() => stopped ?? Date.now()) });

afterEach(() => {
  stopped = null;
  for (const provider of providers) provider.behavior = "honest";
});

const askedOf = (key: string) => providers[0]?.asked.filter((report) => report.key === stringToHex(key)).length ?? 0;

/** Lets the providers answer only once the returned function is called. */
function holdReports(): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  for (const provider of providers) Object.assign(provider, { behavior: "slow", delay: () => held });
  return () => {
    for (const provider of providers) provider.behavior = "honest";
    release();
  };
}

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

    const answer = await operator.ask(body("SPOTPX/ETH-USD"));
    const median = parseEther("2000") + 1n;
    expect(answer).toEqual({
      ...{ network_id: 42, dataset, key: "SPOTPX/ETH-USD", key_hex: stringToHex("SPOTPX/ETH-USD") },
      ...{ status: "OK", value: median.toString(), timestamp: expect.any(Number) },
      reports: providers.map(({ address, value }) => ({
        provider: address,
        value: value.toString(),
        signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      })),
      transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    await chain.wait(answer.transaction_hash as Hex);
    const after = await chain.query(dataset, "SPOTPX/ETH-USD");
    expect(after).toEqual({ value: median, updatedAt: BigInt(answer.timestamp), status: "OK" });
  });

  test("ASCII and hex, in either case, share one update, and its reports with broadcast false", async () => {
    const ascii = "SPOTPX/BTC-USD";
    const hex = stringToHex(ascii);
    await nextRound();
    const keys = [ascii, hex, `0x${hex.slice(2).toUpperCase()}`, ascii];
    const [sent, unsent] = await Promise.all([
      Promise.all(keys.map((key) => operator.ask(body(key), WAIT))),
      operator.ask(body(hex, false)),
    ]);
    // These requests are of one round, unless a second begins in between.
    const rounds = new Set(sent.map(({ timestamp }) => timestamp));
    expect(new Set(sent.map((answer) => JSON.stringify(answer))).size).toBe(rounds.size);
    expect(askedOf(ascii)).toBe(rounds.add(unsent.timestamp).size);
    expect(new Set(sent.map(({ key_hex }) => key_hex))).toEqual(new Set([hex]));
    const updates = (await chain.updates(dataset)).filter(({ keyHash }) => keyHash === keccak256(hex));
    expect(updates.length).toBe(new Set(sent.map(({ timestamp }) => timestamp)).size);
  });

  test("with Prefer: wait is answered when it is mined, within 60 s", async () => {
    const response = await operator.post(body("SPOTPX/ADA-USD"), { prefer: "respond-async, wait=10" });
    expect(response.headers.get("preference-applied")).toBe("wait=10");
    const { timestamp } = (await response.json()) as { timestamp: number };
    expect(await chain.query(dataset, "SPOTPX/ADA-USD")).toMatchObject({ updatedAt: BigInt(timestamp), status: "OK" });
    const patient = await operator.post(body("SPOTPX/ADA-USD"), { prefer: "wait=3600" });
    expect([patient.status, patient.headers.get("preference-applied")]).toEqual([200, "wait=60"]);
  });
});

describe("broadcast false", () => {
  test("does not use a nonce, and anyone can send the returned transaction unchanged", async () => {
    const nonce = await chain.nonce(operator.account.address);
    const answer = await operator.ask(body("SPOTPX/SOL-USD", false));
    expect(answer).not.toHaveProperty("transaction_hash");
    const { data, gas } = answer.transaction ?? {};
    const hex = expect.stringMatching(/^0x[0-9a-f]+$/);
    expect(answer.transaction).toEqual({ chainId: "0x2a", to: dataset, data: hex, gas: hex, gasLimit: gas });
    const request = { chainId: 42, to: dataset, data, gas: Number(gas), gasLimit: Number(gas) };
    expect(answer.transaction_request).toEqual(request);
    expect((await chain.query(dataset, "SPOTPX/SOL-USD")).updatedAt).toBe(0n);

    await sendAsIs(answer.transaction);
    const stored = { value: BigInt(answer.value), updatedAt: BigInt(answer.timestamp), status: "OK" };
    expect(await chain.query(dataset, "SPOTPX/SOL-USD")).toEqual(stored);
    expect(await chain.nonce(operator.account.address)).toBe(nonce);
  });

  const sharedReports = async () => /work="reports"\} (\d+)/.exec(await clocked.registry.metrics())?.[1] ?? "0";
  const isUsable = async (key: string, unsent: DataAnswer, sent: DataAnswer) => {
    expect(unsent.timestamp).toBeGreaterThan(sent.timestamp);
    await sendAsIs(unsent.transaction);
    expect((await chain.query(dataset, key)).updatedAt).toBe(BigInt(unsent.timestamp));
  };

  test.each([
    ["during a broadcast of the same key", "SPOTPX/BCH-USD", [true, false]],
    ["and the same key is broadcast meanwhile", "SPOTPX/UNI-USD", [false, true]],
  ])("gives a usable transaction when requested %s", async (_, key, [first = true, second = false]) => {
    const release = holdReports();
    stopped = Date.now();
    const shared = await sharedReports();
    const one = clocked.ask(body(key, first), WAIT);
    await expect.poll(() => askedOf(key)).toBe(1);
    const other = clocked.ask(body(key, second), WAIT);
    // A request that waits for the next round has not asked for this one's reports.
    if (second) await expect.poll(sharedReports).not.toBe(shared);
    stopped = null;
    release();
    const [unsent, sent] = first ? [await other, await one] : [await one, await other];
    await isUsable(key, unsent, sent);
  });

  test("gives a usable transaction right after a broadcast of the same key", async () => {
    const sent = await operator.ask(body("SPOTPX/XRP-USD"));
    await isUsable("SPOTPX/XRP-USD", await operator.ask(body("SPOTPX/XRP-USD", false)), sent);
  });
});

test("a round that a newer one of the same operator overtakes is answered with the newer one's transaction", async () => {
  const key = "SPOTPX/OVERTAKEN-USD";
  const release = holdReports();
  stopped = Date.now() - 5_000;
  const older = clocked.ask(body(key));
  await expect.poll(() => askedOf(key)).toBe(1);
  for (const provider of providers) provider.behavior = "honest";
  stopped += 1_000;
  // The newer round is pending when the older one's reports arrive.
  await chain.pauseMining();
  onTestFinished(() => chain.resumeMining());
  const newer = await clocked.ask(body(key));
  release();
  expect(await older).toEqual(newer);
  await chain.resumeMining();
  await chain.wait(newer.transaction_hash as Hex);
});

test("a Web Oracle dataset works the same", async () => {
  const answer = await operator.ask(body(WEB_KEY, true, { dataset: web }), WAIT);
  expect(answer).toMatchObject({ dataset: web, key: WEB_KEY, status: "OK" });
  expect(await chain.query(web, WEB_KEY)).toMatchObject({ updatedAt: BigInt(answer.timestamp), status: "OK" });
});

test("only the named network, dataset and key change", async () => {
  const before = [await chain.updates(dataset), await chain.updates(web)];
  const key = "SPOTPX/ETH-USD";
  const answer = await operator.ask(body(key, true, { network_id: 1, dataset: elsewhere }), WAIT);
  expect(await other.updates(elsewhere)).toMatchObject([
    { keyHash: keccak256(stringToHex(key)), timestamp: BigInt(answer.timestamp) },
  ]);
  expect([await chain.updates(dataset), await chain.updates(web)]).toEqual(before);

  // Both chains have a dataset at that address; the Web Oracle's is on one.
  expect(elsewhere).toBe(dataset);
  const problem = await operator.askForProblem(body(WEB_KEY, true, { network_id: 1, dataset: web }));
  expect(problem).toMatchObject({ http: 404, code: "unknown_dataset" });
});

describe("Accept: text/event-stream", () => {
  const EVENT_STREAM = { accept: "text/event-stream" };

  async function events(key: string, broadcast: boolean) {
    const response = await operator.post(body(key, broadcast), EVENT_STREAM);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const blocks = (await response.text()).trimEnd().split("\n\n");
    return blocks.map((block) => {
      const [event, data] = block.split("\n");
      return { event: event?.replace("event: ", ""), data: JSON.parse(data?.replace("data: ", "") ?? "") };
    });
  }

  test("streams the progress, and then the answer", async () => {
    const seen = await events("SPOTPX/DOT-USD", true);
    const reports = ["report", "report", "report", "report"];
    expect(seen.map(({ event }) => event)).toEqual(["asked", ...reports, "signed", "sent", "mined", "answer"]);
    const answer = seen.at(-1)?.data;
    expect(seen.at(-2)?.data.transaction_hash).toBe(answer.transaction_hash);
    expect(seen[4]?.data).toMatchObject({ received: 4, of: 4 });
    expect((await chain.query(dataset, "SPOTPX/DOT-USD")).updatedAt).toBe(BigInt(answer.timestamp));
    const unsent = await events("SPOTPX/DOT-EUR", false);
    expect(unsent.at(-1)).toMatchObject({ event: "answer", data: { transaction: { to: dataset } } });
  });

  test("ends with a problem, as JSON would, and a body that is not valid is an ordinary problem", async () => {
    for (const provider of providers) provider.behavior = "unknown key";
    const seen = await events("SPOTPX/NO-USD", true);
    expect(seen.at(-1)).toMatchObject({ event: "problem", data: { status: 422, code: "unknown_key" } });
    expect((await operator.askForProblem(body("0x5"), EVENT_STREAM)).http).toBe(400);
  });
});

test("a transaction that changes nothing because another relayer was faster is answered with what that one stored", async () => {
  const proxy = await startRpcProxy(chain.url);
  const slow = await start({}, { clock: clockOf(() => stopped ?? Date.now()) }, { rpcUrls: [proxy.url] });
  const request = body("SPOTPX/RACE-USD");
  stopped = Date.now();
  const { transaction, timestamp } = await slow.ask({ ...request, broadcast: false });
  let open = () => {};
  proxy.gates.set("eth_sendRawTransaction", new Promise((resolve) => (open = resolve)));
  proxy.calls.length = 0;
  const answer = slow.ask(request, WAIT);
  await expect.poll(() => proxy.calls.map(({ method }) => method)).toContain("eth_sendRawTransaction");
  stopped = null;
  const hash = await sendAsIs(transaction);
  open();
  expect(await answer).toMatchObject({ status: "OK", timestamp, transaction_hash: hash, reports: [] });
});

describe("with minUpdateAgeSeconds", () => {
  const MIN_AGE_SECONDS = 7;
  let passedMs = 0;

  /** Lets time pass, for the chain too. */
  async function pass(seconds: number): Promise<void> {
    passedMs += seconds * 1_000;
    await chain.client.increaseTime({ seconds });
  }

  const startWithAge = () =>
    start({ minUpdateAgeSeconds: MIN_AGE_SECONDS }, { clock: clockOf(() => stopped ?? Date.now() + passedMs) });

  test("a fresh value is answered with the transaction that stored it, until it is as old as the setting", async () => {
    const { ask, account } = await startWithAge();
    const key = "SPOTPX/FRESH-USD";
    stopped = Date.now();
    const sent = await ask(body(key), WAIT);
    expect(sent).not.toHaveProperty("fresh");
    const nonce = await chain.nonce(account.address);

    // A request of the same round would share the update.
    stopped += 1_000;
    expect(await ask(body(key))).toEqual({ ...sent, reports: [], fresh: true });
    expect(askedOf(key)).toBe(1);
    expect(await chain.nonce(account.address)).toBe(nonce);
    // Neither another key nor a transaction for the caller is fresh.
    expect(await ask(body("SPOTPX/FRESH-EUR"), WAIT)).not.toHaveProperty("fresh");
    const unsent = await ask(body(key, false));
    expect(unsent).toMatchObject({ timestamp: sent.timestamp + 1, transaction: { to: dataset } });

    stopped = null;
    await pass(MIN_AGE_SECONDS);
    const second = await ask(body(key), WAIT);
    expect(second.timestamp).toBeGreaterThan(sent.timestamp);
    expect(second).not.toHaveProperty("fresh");
  });

  test("a fresh value is answered without its transaction where the RPC limits logs", async () => {
    const proxy = await startRpcProxy(chain.url);
    const { ask, account } = await start({ minUpdateAgeSeconds: 60 }, {}, { rpcUrls: [proxy.url] });
    const sent = await ask(body("SPOTPX/LOGS-USD"), WAIT);
    const nonce = await chain.nonce(account.address);
    const refusal = { error: { code: -32005, message: "limit exceeded" } };
    proxy.answers.set("eth_getLogs", { body: refusal });
    await expect
      .poll(() => ask(body("SPOTPX/LOGS-USD")))
      .toEqual({ ...sent, reports: [], fresh: true, transaction_hash: null });
    expect(await chain.nonce(account.address)).toBe(nonce);
    await proxy.close();
  });

  test("a stored NOT_AVAILABLE does not count as a value, so the providers are asked again", async () => {
    const { ask } = await startWithAge();
    const key = "SPOTPX/NONE-USD";
    for (const provider of providers) provider.behavior = "no data";
    expect(await ask(body(key), WAIT)).toMatchObject({ status: "NOT_AVAILABLE" });
    for (const provider of providers) provider.behavior = "honest";
    // A request of the same round would share the update.
    await pass(1);
    expect(await ask(body(key), WAIT)).toMatchObject({ status: "OK" });
  });
});
