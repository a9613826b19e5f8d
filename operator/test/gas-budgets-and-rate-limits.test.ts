import { expect, test } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee } from "./support/committee.js";
import { nextRound } from "./support/next-round.js";
import { startOperator } from "./support/operator.js";

const body = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });
const WAIT = { prefer: "wait=10" };

const { chain, providers, dataset } = await startCommittee(3);

test("when an hour's gas is spent, only broadcasts are refused", async () => {
  const settings = { gasPerHour: 100_000, gasPerHourForNewKeys: 1_000_000 };
  const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
  await operator.ask(body("SPOTPX/A-USD"), WAIT);
  await nextRound();
  await operator.ask(body("SPOTPX/A-USD"), WAIT);
  await nextRound();

  const nonce = await chain.nonce(operator.account.address);
  const problem = await operator.askForProblem(body("SPOTPX/A-USD"));
  expect([problem.http, problem.code]).toEqual([429, "gas_budget_spent"]);
  const seconds = Number(problem.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(await chain.nonce(operator.account.address)).toBe(nonce);

  expect(await operator.ask(body("SPOTPX/A-USD", false))).toHaveProperty("transaction");
  // A key that is stored for the first time draws on a separate budget.
  await operator.ask(body("SPOTPX/B-USD"));
  await operator.close();
});

test("an account that cannot pay is a 503, and its gas is not counted", async () => {
  const settings = { gasPerHour: 150_000, gasPerHourForNewKeys: 200_000 };
  const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
  await chain.client.setBalance({ address: operator.account.address, value: 0n });
  for (let i = 0; i < 3; i++) {
    const problem = await operator.askForProblem(body("SPOTPX/POOR-USD"));
    expect([problem.http, problem.code]).toEqual([503, "out_of_funds"]);
    expect(JSON.stringify(problem)).not.toContain(operator.account.address);
  }
  const said = operator.log
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /cannot pay for the transaction\./.test(msg));
  expect(said.map(({ sender }) => sender)).toEqual(Array(3).fill(operator.account.address));
  await chain.fund(operator.account.address);
  expect((await operator.ask(body("SPOTPX/POOR-USD"), WAIT)).status).toBe("OK");
  await operator.close();
});

test("health checks have a limit of their own", async () => {
  const operator = await startOperator([{ chain, datasets: [dataset], providers }], { requestsPerMinute: 1 });
  const live = await fetch(`${operator.base}/live`);
  expect([live.status, live.headers.get("ratelimit-policy")]).toEqual([200, '"health";q=600;w=60']);
  expect((await operator.post(body("nonsense", false))).status).toBe(422);
  await operator.close();
});

test("broadcasts have a tighter limit, also with an event stream, and other requests go on", async () => {
  const options = { requestsPerMinute: 6, broadcastsPerMinute: 2 };
  const operator = await startOperator([{ chain, datasets: [dataset], providers }], options);
  const nonce = () => chain.nonce(operator.account.address);
  expect((await operator.post(body("SPOTPX/A-USD", false))).headers.get("ratelimit")).toMatch(/^"requests";r=5;t=\d+$/);
  const first = await operator.post(body("SPOTPX/A-USD"), WAIT);
  expect(first.headers.get("ratelimit-policy")).toBe('"requests";q=6;w=60, "broadcasts";q=2;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"requests";r=4;t=\d+, "broadcasts";r=1;t=\d+$/);
  const streamed = await operator.post(body("SPOTPX/B-USD"), { ...WAIT, accept: "text/event-stream" });
  expect(await streamed.text()).toContain("event: answer");
  const sent = await nonce();

  for (const headers of [{}, { accept: "text/event-stream" }]) {
    const problem = await operator.askForProblem(body("SPOTPX/C-USD"), headers);
    expect([problem.http, problem.code]).toEqual([429, "too_many_broadcasts"]);
    expect(problem.detail).toContain('"broadcast": false');
    expect(Number(problem.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(problem.headers.get("ratelimit")).toMatch(/"broadcasts";r=0;t=\d+$/);
  }
  expect(await nonce()).toBe(sent);
  expect(await operator.ask(body("SPOTPX/C-USD", false))).toHaveProperty("transaction");
  expect((await operator.askForProblem(body("SPOTPX/C-USD", false))).code).toBe("too_many_requests");
  await operator.close();
});

test("new keys of one caller spend only its share of the gas, and do not make other callers' requests fail when they share its work", async () => {
  const settings = { gasPerHourForNewKeys: 800_000, gasPercentPerCaller: 25 };
  const options = { trustedProxies: ["127.0.0.1"] };
  const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], options);
  const from = (caller: string) => ({ "x-forwarded-for": caller });
  let greedy = await operator.post(body("SPOTPX/GREEDY0-USD"), from("192.0.2.1:1000"));
  for (let i = 1; greedy.status === 200 && i < 10; i++) {
    greedy = await operator.post(body(`SPOTPX/GREEDY${i}-USD`), from(`192.0.2.1:${1000 + i}`));
  }
  expect(await greedy.json()).toMatchObject({
    status: 429,
    code: "gas_budget_spent",
    title: expect.stringMatching(/^Your share /),
  });
  expect(Number(greedy.headers.get("retry-after"))).toBeGreaterThan(3_500);
  // The reports take long enough for the second caller to share the work of the first.
  const [provider] = providers;
  if (provider === undefined) throw new Error("There is no provider.");
  provider.behavior = "slow";
  const before = provider.asked.length;
  const refused = operator.post(body("SPOTPX/SHARED-USD"), from("192.0.2.1"));
  await expect.poll(() => provider.asked.length, { interval: 1 }).toBeGreaterThan(before);
  const served = await operator.post(body("SPOTPX/SHARED-USD"), from("192.0.2.2"));
  expect([(await refused).status, served.status]).toEqual([429, 200]);
  provider.behavior = "honest";
  expect((await operator.post(body("SPOTPX/OTHER-USD"), from("2001:db8::1"))).status).toBe(200);
  await operator.close();
});

test("requests for keys that nobody has stored have a small limit, per caller and together, that spares the providers", async () => {
  const options = { trustedProxies: ["127.0.0.1"], newKeysPerMinute: 2 };
  const operator = await startOperator([{ chain, datasets: [dataset], providers }], options);
  const ask = (key: string, caller: string) => operator.post(body(key, false), { "x-forwarded-for": caller });
  const { transaction } = await operator.ask(body("SPOTPX/MINE-USD", false), { "x-forwarded-for": "198.51.100.1" });
  await chain.wait(
    await chain.client.request({
      method: "eth_sendTransaction",
      params: [{ from: OTHER_ACCOUNT, ...transaction }],
    } as never),
  );

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
  await operator.close();
});
