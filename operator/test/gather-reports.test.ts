import { type Address, parseEther, stringToHex } from "viem";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import { type AnsweredProblem, startOperator } from "./support/operator.js";
import type { Behavior } from "./support/stub-providers.js";

/** What each answer of a provider means is tested in src/reports. */

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
  for (const [i, provider] of providers.entries()) provider.behavior = behaviors[i] ?? "honest";
}

/** Sends a request that must fail without a transaction. */
async function failUnsent(size: number, key: string): Promise<AnsweredProblem> {
  const nonce = await chain.nonce(operator.account.address);
  const problem = await operator.askForProblem(body(size, key));
  expect(await chain.nonce(operator.account.address)).toBe(nonce);
  return problem;
}

const { chain, providers, members } = await startCommittee(5);
for (const size of [1, 3, 4, 5]) datasets.set(size, await chain.deploy(members.slice(0, size)));
const settings = { gasPerHourForNewKeys: 100_000_000 };
const operator = await startOperator([{ chain, datasets: [...datasets.values()], providers, settings }]);

afterEach(() => behave());

test("of four providers, one that fails stops nothing; two do, and both are named", async () => {
  behave("honest", "closes the connection");
  const answer = await operator.ask(body(4, newKey(), false));
  expect(answer.status).toBe("OK");
  expect(answer.reports.map(({ provider }) => provider)).toEqual([0, 2, 3].map((i) => members[i]));

  behave("closes the connection", "honest", "honest", "closes the connection");
  const key = newKey();
  const problem = await failUnsent(4, key);
  expect(problem).toMatchObject({ http: 503, code: "no_quorum" });
  expect(problem.failures).toMatchObject(
    [0, 3].map((i) => ({ provider: members[i], host: new URL(providers[i]?.url ?? "").host, reason: "unreachable" })),
  );
  for (const i of [0, 3]) expect(problem.detail).toContain(members[i]);
  behave();
  const later = await operator.ask(body(4, key), WAIT);
  expect(await chain.query(ofSize(4), key)).toMatchObject({ updatedAt: BigInt(later.timestamp), status: "OK" });
});

test("when providers sign with other keys than configured, the problem does not advise a retry", async () => {
  behave("another provider", "another provider", "honest", "honest");
  const { detail } = await failUnsent(4, newKey());
  expect(detail).toMatch(/signs as 0x[0-9a-fA-F]{40}: the operator's owner must correct `providers`/);
  expect(detail).not.toContain("Try again");
});

test("exactly two thirds of the committee are no quorum, and a committee of one is", async () => {
  behave("server error");
  expect(await failUnsent(3, newKey())).toMatchObject({ http: 503, code: "no_quorum", failures: { length: 1 } });
  behave();
  expect(await operator.ask(body(1, newKey()), WAIT)).toMatchObject({ status: "OK", reports: { length: 1 } });
});

test("no data that a quorum signs is stored as NOT_AVAILABLE, and never mixes with values", async () => {
  behave("no data", "no data", "no data");
  const key = newKey();
  const answer = await operator.ask(body(4, key), WAIT);
  expect(answer).toMatchObject({ status: "NOT_AVAILABLE", value: "0", reports: { length: 3 } });
  const stored = { value: 0n, updatedAt: BigInt(answer.timestamp), status: "NOT_AVAILABLE" };
  expect(await chain.query(ofSize(4), key)).toEqual(stored);

  behave("no data", "no data");
  const problem = await failUnsent(4, newKey());
  expect(problem).toMatchObject({ http: 503, code: "no_quorum" });
  expect(problem.detail).toContain("2 signed a value and 2 signed that there is none. ");
});

test("why providers have no value is told with it, and where there is no quorum", async () => {
  const why = (i: number) => `/sources/0: unreachable: could not be reached (${i})`;
  for (const [i, provider] of providers.entries())
    provider.sources = [{ name: "/sources/0", reason: `unreachable: could not be reached (${i})` }];
  onTestFinished(() => {
    for (const provider of providers) provider.sources = undefined;
  });
  behave("no data", "no data", "no data", "no data");
  const { reports } = await operator.ask(body(4, newKey()), WAIT);
  expect(reports.map(({ reason }) => reason)).toEqual([0, 1, 2, 3].map(why));
  behave("no data", "no data");
  const { detail } = await failUnsent(4, newKey());
  expect(detail).toContain(`2 signed that there is none (${why(0)}; ${why(1)}). `);
  behave("no data", "no data", "no data", "no data", "honest");
  const one = await operator.ask(body(4, newKey(), false));
  expect(one.reports[0]).toMatchObject({ value: "0", reason: why(0) });
});

test("values beyond the tolerance are a DISAGREEMENT", async () => {
  const key = newKey();
  for (const [i, { values }] of providers.entries()) values.set(stringToHex(key), parseEther(String(1000 * (i + 1))));
  expect(await operator.ask(body(4, key), WAIT)).toMatchObject({ status: "DISAGREEMENT", value: "0" });
  expect(await chain.query(ofSize(4), key)).toMatchObject({ value: 0n, status: "DISAGREEMENT" });
});

describe("an unserved key", () => {
  const asked = () => providers.map((provider) => provider.asked.length);

  test("is a 422, sent nowhere, and requested once from the providers, however often and in whichever form callers ask", async () => {
    behave("unknown key", "unknown key", "unknown key");
    const key = newKey();
    expect(await failUnsent(4, key)).toMatchObject({ http: 422, code: "unknown_key" });
    const before = asked();
    for (const spelling of [key, stringToHex(key)]) {
      const problem = await operator.askForProblem(body(4, spelling, false));
      expect(problem).toMatchObject({ http: 422, code: "unknown_key" });
    }
    expect(asked()).toEqual(before);
    // The refusal does not affect other keys or other datasets.
    behave();
    await operator.ask(body(4, newKey(), false));
    await operator.ask(body(5, key, false));
  });

  test.each<[string, Behavior, string, string]>([
    ["that is not listed", "unknown key", "SPOTPX/UNLISTED-USD", "lists the known keys."],
    ["that is listed", "unknown key", "SPOTPX/ETH-USD", "so tell the operator's owner."],
    [
      "that is refused for another reason",
      "other kind",
      "SPOTPX/OTHER-USD",
      "Request the key from the other of the two Web Oracle datasets.",
    ],
  ])("%s is explained, as most providers say, now and when it is asked for again", async (_, behavior, key, fix) => {
    behave(behavior, behavior, behavior, "busy source");
    const { detail } = await operator.askForProblem(body(4, key));
    expect(detail).toContain(`3 × "answered HTTP 422 (${behavior.replace(" ", "_")})"`);
    expect(detail).toContain(`${fix} The providers can be asked for this key again after a minute.`);
    expect((await operator.askForProblem(body(4, key))).detail).toBe(detail);
  });
});
