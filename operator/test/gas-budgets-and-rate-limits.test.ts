import { expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import { nextRound } from "./support/next-round.js";

const { chain, providers, body, start } = await startCommittee(3);

test("when an hour's gas is spent, only broadcasts are refused", async () => {
  const operator = await start({ gasPerHour: 100_000, gasPerHourForNewKeys: 1_000_000 });
  for (let i = 0; i < 2; i++) {
    await operator.ask(body("SPOTPX/A-USD"), WAIT);
    await nextRound();
  }
  const nonce = await chain.nonce(operator.account.address);
  const problem = await operator.askForProblem(body("SPOTPX/A-USD"));
  expect(problem).toMatchObject({ http: 429, code: "gas_budget_spent" });
  expect(Number(problem.headers.get("retry-after"))).toBeGreaterThan(3_000);
  expect(await chain.nonce(operator.account.address)).toBe(nonce);
  expect(await operator.ask(body("SPOTPX/A-USD", false))).toHaveProperty("transaction");
  // A key that is stored for the first time draws on a separate budget.
  await operator.ask(body("SPOTPX/B-USD"));
});

test("an account that cannot pay is a 503, and its gas is not counted", async () => {
  const operator = await start({ gasPerHour: 150_000, gasPerHourForNewKeys: 200_000 });
  const { address } = operator.account;
  await chain.client.setBalance({ address, value: 0n });
  for (let i = 0; i < 3; i++) {
    const problem = await operator.askForProblem(body("SPOTPX/POOR-USD"));
    expect(problem).toMatchObject({ http: 503, code: "out_of_funds" });
    expect(JSON.stringify(problem)).not.toContain(address);
  }
  expect(operator.log.join("")).toContain(`"sender":"${address}"`);
  await chain.fund(address);
  await operator.ask(body("SPOTPX/POOR-USD"), WAIT);
});

test("broadcasts have a tighter limit, also with an event stream, and other requests go on", async () => {
  const operator = await start({}, { requestsPerMinute: 6, broadcastsPerMinute: 2 });
  expect((await operator.post(body("SPOTPX/A-USD", false))).headers.get("ratelimit")).toMatch(/^"requests";r=5;t=\d+$/);
  const first = await operator.post(body("SPOTPX/A-USD"), WAIT);
  expect(first.headers.get("ratelimit-policy")).toBe('"requests";q=6;w=60, "broadcasts";q=2;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"requests";r=4;t=\d+, "broadcasts";r=1;t=\d+$/);
  const streamed = await operator.post(body("SPOTPX/B-USD"), { ...WAIT, accept: "text/event-stream" });
  expect(await streamed.text()).toContain("event: answer");
  for (const headers of [{}, { accept: "text/event-stream" }]) {
    const problem = await operator.askForProblem(body("SPOTPX/C-USD"), headers);
    expect(problem).toMatchObject({ http: 429, code: "too_many_broadcasts" });
    expect(problem.detail).toContain('"broadcast": false');
    expect(Number(problem.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await operator.ask(body("SPOTPX/C-USD", false))).toHaveProperty("transaction");
  expect((await operator.askForProblem(body("SPOTPX/C-USD", false))).code).toBe("too_many_requests");
});

test("new keys of one caller spend only its share of the gas, its refusal costs no work, and others' requests do not fail", async () => {
  const settings = { gasPerHourForNewKeys: 800_000, gasPercentPerCaller: 25 };
  // What tasks of a kind need is expected again for a few seconds: longer than this test takes.
  const clock = { now: () => Date.now(), monotonic: () => performance.now() / 50 };
  const operator = await start(settings, { trustedProxies: ["127.0.0.1"], clock });
  const post = (key: string, caller: string, broadcast = true) =>
    operator.post(body(key, broadcast), { "x-forwarded-for": caller });
  let greedy = await post("SPOTPX/GREEDY0-USD", "192.0.2.1:1000");
  for (let i = 1; greedy.status === 200 && i < 10; i++) {
    greedy = await post(`SPOTPX/GREEDY${i}-USD`, `192.0.2.1:${1000 + i}`);
  }
  expect(await greedy.json()).toMatchObject({
    ...{ status: 429, code: "gas_budget_spent", title: expect.stringMatching(/^Your share /) },
  });
  const asked = () => providers[0]?.asked.length;
  const before = asked();
  // Refused broadcasts of a key neither ask anyone nor overtake who sends the transaction, whatever the round is.
  const refused = () => post("SPOTPX/SHARED-USD", "192.0.2.1");
  for (let i = 0; i < 3; i++) expect((await refused()).status).toBe(429);
  expect(asked()).toBe(before);
  const all = [refused(), post("SPOTPX/SHARED-USD", "192.0.2.3", false), refused()];
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual([429, 200, 429]);
  const both = [refused(), post("SPOTPX/SHARED-USD", "192.0.2.2"), refused()];
  expect((await Promise.all(both)).map(({ status }) => status)[1]).toBe(200);
});

test("requests for keys that nobody has stored have a small limit, per caller and together, that spares the providers", async () => {
  const operator = await start({}, { trustedProxies: ["127.0.0.1"], newKeysPerMinute: 2 });
  const ask = (key: string, caller: string) => operator.post(body(key, false), { "x-forwarded-for": caller });
  await operator.ask(body("SPOTPX/MINE-USD"), { ...WAIT, "x-forwarded-for": "198.51.100.1" });

  for (const provider of providers) provider.behavior = "unknown key";
  const asked = () => providers[0]?.asked.length ?? 0;
  const before = asked();
  const codes = [];
  for (let caller = 0; caller < 11; caller++) {
    for (let i = 0; i < 3; i++) {
      const response = await ask(`SPOTPX/UNKNOWN${caller}X${i}-USD`, `192.0.2.${caller}`);
      codes.push(((await response.json()) as { code: string }).code);
    }
  }
  for (const provider of providers) provider.behavior = "honest";
  // One of the twenty was used above.
  expect(codes.filter((code) => code === "unknown_key").length).toBe(19);
  expect(codes.slice(0, 3)).toEqual(["unknown_key", "unknown_key", "too_many_requests"]);
  expect(asked() - before).toBe(19);
  // Keys that are configured or stored are served to the same callers.
  for (const key of ["SPOTPX/ETH-USD", "SPOTPX/MINE-USD"]) expect((await ask(key, "192.0.2.1")).status).toBe(200);
});
