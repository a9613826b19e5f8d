import { type Address, keccak256, parseEther, stringToHex } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { startChain } from "./support/chain.js";
import { type AnsweredProblem, startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import { type Behavior, startProviders } from "./support/stub-providers.js";

/** Datasets by committee size. The first providers are the members. */
const datasets = new Map<number, Address>();
let counter = 0;

const ofSize = (size: number): Address => datasets.get(size) ?? "0x";
/** Returns a key that no other test uses. */
const newKey = () => `SPOTPX/T${counter++}-USD`;
const body = (size: number, key: string, broadcast = true) => ({
  network_id: 42,
  dataset: ofSize(size),
  key,
  broadcast,
});

function behave(...behaviors: Behavior[]): void {
  providers.forEach((provider, i) => {
    provider.behavior = behaviors[i] ?? "honest";
  });
}

/** Sends a request that must fail without a transaction. */
async function failUnsent(size: number, key: string): Promise<AnsweredProblem> {
  const ofKey = async () =>
    (await chain.updates(ofSize(size))).filter(({ keyHash }) => keyHash === keccak256(stringToHex(key)));
  const [nonce, updates] = [await chain.nonce(operator.account.address), await ofKey()];
  const problem = await operator.askForProblem(body(size, key));
  expect(await chain.nonce(operator.account.address)).toBe(nonce);
  expect(await ofKey()).toEqual(updates);
  return problem;
}

const [chain, providers] = await Promise.all([startChain(), startProviders(5)]);
const members = providers.map(({ address }) => address);
for (const size of [1, 3, 4, 5]) datasets.set(size, await chain.deploy(members.slice(0, size)));
const settings = { gasPerHourForNewKeys: 100_000_000 };
const operator = await startOperator([{ chain, datasets: [...datasets.values()], providers, settings }]);

afterEach(() => behave());

test("when providers sign with other keys than configured, the problem does not advise a retry", async () => {
  behave("another provider", "another provider", "honest", "honest");
  const { detail } = await failUnsent(4, newKey());
  expect(detail).toMatch(/signs as 0x[0-9a-fA-F]{40}: the operator's owner must correct `providers`/);
  expect(detail).not.toContain("Try again");
});

test("of four providers, one that fails stops nothing; two do, and both are named", async () => {
  behave("honest", "closes the connection");
  const answer = await operator.ask(body(4, newKey(), false));
  expect(answer.status).toBe("OK");
  expect(answer.reports.map(({ provider }) => provider)).toEqual([0, 2, 3].map((i) => providers[i]?.address));

  behave("closes the connection", "honest", "honest", "closes the connection");
  const key = newKey();
  const problem = await failUnsent(4, key);
  expect([problem.http, problem.code]).toEqual([503, "no_quorum"]);
  expect(problem.failures?.map(({ provider, host, reason }) => ({ provider, host, reason }))).toEqual(
    [providers[0], providers[3]].map((provider) => ({
      provider: provider?.address,
      host: new URL(provider?.url ?? "").host,
      reason: "unreachable",
    })),
  );
  for (const i of [0, 3]) expect(problem.detail).toContain(providers[i]?.address);
  behave();
  const later = await operator.ask(body(4, key), { prefer: "wait=10" });
  expect(await chain.query(ofSize(4), key)).toMatchObject({ updatedAt: BigInt(later.timestamp), status: "OK" });
});

test("exactly two thirds of the committee are no quorum: of three members, with one down", async () => {
  behave("server error");
  const problem = await failUnsent(3, newKey());
  expect([problem.http, problem.code]).toEqual([503, "no_quorum"]);
  expect(problem.failures?.length).toBe(1);
});

test("a committee of one is a quorum", async () => {
  const answer = await operator.ask(body(1, newKey()), { prefer: "wait=10" });
  expect(answer).toMatchObject({ status: "OK", reports: { length: 1 } });
});

describe("no data", () => {
  test("signed by a quorum is stored as NOT_AVAILABLE", async () => {
    behave("no data", "no data", "no data");
    const key = newKey();
    const answer = await operator.ask(body(4, key), { prefer: "wait=10" });
    expect(answer).toMatchObject({ status: "NOT_AVAILABLE", value: "0" });
    expect(answer.reports.length).toBe(3);
    const stored = await chain.query(ofSize(4), key);
    expect(stored).toEqual({ value: 0n, updatedAt: BigInt(answer.timestamp), status: "NOT_AVAILABLE" });
  });

  test("never mixes with values", async () => {
    behave("no data", "no data");
    const problem = await failUnsent(4, newKey());
    expect([problem.http, problem.code]).toEqual([503, "no_quorum"]);
    expect(problem.detail).toContain("2 signed a value and 2 signed that there is none");
  });
});

test("values beyond the tolerance are a DISAGREEMENT", async () => {
  const values = providers.map(({ value }) => value);
  providers.forEach((provider, i) => {
    provider.value = parseEther(String(1000 * (i + 1)));
  });
  const key = newKey();
  const answer = await operator.ask(body(4, key), { prefer: "wait=10" });
  providers.forEach((provider, i) => {
    provider.value = values[i] ?? 0n;
  });
  expect(answer).toMatchObject({ status: "DISAGREEMENT", value: "0" });
  expect(await chain.query(ofSize(4), key)).toMatchObject({ value: 0n, status: "DISAGREEMENT" });
});

test("a key that a quorum does not serve is a 422, and nothing is sent", async () => {
  behave("unknown key", "unknown key", "unknown key");
  const problem = await failUnsent(4, newKey());
  expect([problem.http, problem.code]).toEqual([422, "unknown_key"]);
});

describe("an unserved key", () => {
  const asked = () => providers.map((provider) => provider.asked.length);

  test("is requested once from the providers, however often and in whichever form callers ask", async () => {
    behave("unknown key", "unknown key", "unknown key", "unknown key");
    const key = newKey();
    await operator.askForProblem(body(4, key));
    const before = asked();
    for (const broadcast of [true, false]) {
      for (const spelling of [key, stringToHex(key)]) {
        const problem = await operator.askForProblem(body(4, spelling, broadcast));
        expect([problem.http, problem.code]).toEqual([422, "unknown_key"]);
      }
    }
    expect(asked()).toEqual(before);
    // The refusal does not affect other keys or other datasets.
    behave();
    await operator.ask(body(4, newKey(), false));
    await operator.ask(body(5, key, false));
  });

  test.each<[string, Behavior, string, string]>([
    [
      "that is not listed",
      "unknown key",
      "SPOTPX/UNLISTED-USD",
      "GET /datasets, under the operator's base URL, lists the known keys.",
    ],
    ["that is listed", "unknown key", "SPOTPX/ETH-USD", "This operator lists the key, so tell the operator's owner."],
    [
      "that is refused for another reason",
      "other kind",
      "SPOTPX/OTHER-USD",
      "Request the key from the other of the two Web Oracle datasets.",
    ],
  ])("%s is explained, now and when it is asked for again", async (_, behavior, key, fix) => {
    behave(behavior, behavior, behavior, behavior);
    const code = behavior.replace(" ", "_");
    const again = "The providers can be asked for this key again after a minute.";
    const { detail } = await operator.askForProblem(body(4, key));
    expect(detail).toBe(
      `Nothing was sent. The data providers' answers: 4 × "answered HTTP 422 (${code})". ${fix} ${again}`,
    );
    expect((await operator.askForProblem(body(4, key))).detail).toBe(detail);
  });

  test("is explained as most providers say, if they differ", async () => {
    behave("other kind", "unknown key", "unknown key", "unknown key");
    const { detail } = await operator.askForProblem(body(4, newKey()));
    expect(detail).toContain('3 × "answered HTTP 422 (unknown_key)"');
    expect(detail).toContain('1 × "answered HTTP 422 (other_kind)"');
    expect(detail).toContain("lists the known keys.");
  });

  test("costs two calls to the RPC, for the price and for what is stored", async () => {
    const proxy = await startRpcProxy(chain.url);
    const watched = await startOperator([{ chain, datasets: [ofSize(4)], providers, rpcUrls: [proxy.url] }]);
    await watched.recovered;
    behave("unknown key", "unknown key", "unknown key");
    const methods = () => proxy.calls.map(({ method }) => method);
    // The operator reads its sender's balance when it starts, and nobody waits for that.
    await expect.poll(methods).toContain("eth_getBalance");
    proxy.calls.length = 0;
    await watched.askForProblem(body(4, newKey()));
    // The queue of its sender reads the nonce and the fees from time to time.
    const queueMethods = ["eth_getTransactionCount", "eth_getBlockByNumber", "eth_maxPriorityFeePerGas"];
    const asked = methods().filter((method) => !queueMethods.includes(method));
    expect(asked).toEqual(["eth_call", "eth_call"]);
    await watched.close();
    await proxy.close();
  });
});
