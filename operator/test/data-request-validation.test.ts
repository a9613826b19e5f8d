import { describe, expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";

const KEY = "SPOTPX/ETH-USD";

const { providers, dataset, body, start } = await startCommittee(1);
const request = (more: object = {}) => body(KEY, false, more);
const operator = await start({}, { basePath: "/oracle" });
const asked = () => providers[0]?.asked.length ?? 0;

describe("a body that is not valid", () => {
  test.each([
    ["network_id", { network_id: "42" }],
    ["network_id", { network_id: 42.5 }],
    ["network_id", { network_id: 0 }],
    ["network_id", { network_id: 2 ** 53 }],
    ["dataset", { dataset: "0x1234" }],
    ["key", { key: "" }],
    ["key", { key: "0x" }],
    ["key", { key: "0x535" }],
    ["key", { key: "0X53" }],
    ["key", { key: "0xzz" }],
    ["key", { key: "SPOTPX/É" }],
    ["key", { key: "K".repeat(257) }],
    ["key", { key: `0x${"4b".repeat(257)}` }],
    ["broadcast", { broadcast: "true" }],
    ["extra", { extra: 1 }],
    ["a/b", { "a/b": 42 }],
  ])("is a 400 that names %s: %j", async (property, change) => {
    const problem = await operator.askForProblem(request(change));
    expect(problem).toMatchObject({ http: 400, code: "invalid_body" });
    expect(problem.errors).toEqual([{ property, problem: expect.any(String) }]);
    expect(problem.detail).toMatch(new RegExp(`^${property}:? `));
  });

  test("names the right spelling of a property that is spelt otherwise", async () => {
    const { network_id: networkId, ...others } = request();
    const problem = await operator.askForProblem({ networkId, ...others });
    const right = { property: "networkId", problem: "is unknown; the right name is network_id" };
    expect(problem.errors).toContainEqual(right);
    expect(problem.detail).toContain("network_id is missing.");
  });

  test("has exactly four required properties, and the problem names every wrong one once", async () => {
    const problem = await operator.askForProblem({ network_id: "42", broadcast: "true", more: 1 });
    const named = problem.errors?.map(({ property }) => property);
    expect(named?.toSorted()).toEqual(["broadcast", "dataset", "key", "more", "network_id"]);
  });
});

test("an address with a wrong checksum is a 400 with a hint; in lower or upper case it is answered with its checksum", async () => {
  const letter = dataset.search(/(?<=^0x.*)[a-f]/i);
  const swapped = /[a-f]/.test(dataset[letter] ?? "") ? dataset[letter]?.toUpperCase() : dataset[letter]?.toLowerCase();
  const wrong = `${dataset.slice(0, letter)}${swapped}${dataset.slice(letter + 1)}`;
  const problem = await operator.askForProblem(request({ dataset: wrong }));
  expect(problem.http).toBe(400);
  expect(problem.detail).toContain(dataset.toLowerCase());
  for (const address of [dataset.toLowerCase(), `0x${dataset.slice(2).toUpperCase()}`]) {
    expect((await operator.ask(request({ dataset: address }))).dataset).toBe(dataset);
  }
});

test.each<[what: string, change: object, http: number, code: string]>([
  ["an unserved network", { network_id: 43 }, 422, "unknown_network"],
  ["the largest network id", { network_id: 2 ** 53 - 1 }, 422, "unknown_network"],
  ["an unserved dataset", { dataset: `0x${"11".repeat(20)}` }, 404, "unknown_dataset"],
  ...["SPOTPX/ETH-usd", "K", "K".repeat(256), `0x${"4B".repeat(256)}`, "WEB/1", " SPOTPX/ETH-USD"].map(
    (key) => ["a key of another form", { key }, 422, "invalid_key"] as [string, object, number, string],
  ),
])("a request for %s asks nobody: %j is a %i %s", async (_, change, http, code) => {
  const before = asked();
  const problem = await operator.askForProblem(request(change));
  expect(problem).toMatchObject({ http, code });
  if (code === "unknown_network") expect(problem.served_network_ids).toEqual([42]);
  expect(asked()).toBe(before);
});

test("an operator without a sender account serves only broadcast: false", async () => {
  const keyless = await start({}, { hasSender: false });
  expect(await keyless.askForProblem(body(KEY))).toMatchObject({ http: 422, code: "broadcast_unavailable" });
  expect(await keyless.ask(request())).toHaveProperty("transaction");
});

test("a wait that is not a number is a 400, whether it would be waited or not", async () => {
  const before = asked();
  for (const broadcast of [true, false]) {
    const problem = await operator.askForProblem(body(KEY, broadcast), { prefer: "wait=abc" });
    expect(problem).toMatchObject({ http: 400, code: "bad_request" });
    expect(problem.detail).toBe("prefer: wait must be a whole number of seconds, as in wait=10.");
  }
  expect(asked()).toBe(before);
});

test("a page of any origin may post, and read problems", async () => {
  const origin = "https://dapp.example";
  // Besides the client's own headers, those that tools which watch pages add.
  const added = "content-type,prefer,sentry-trace,baggage,tracestate";
  const asking = { "access-control-request-method": "POST", "access-control-request-headers": added };
  const preflight = { method: "OPTIONS", headers: { origin, ...asking } };
  const { status, headers } = await fetch(`${operator.base}/data/request`, preflight);
  expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
  expect(headers.get("access-control-allow-methods")).toContain("POST");
  expect(headers.get("access-control-allow-headers")).toBe(added);
  expect(headers.get("access-control-allow-private-network")).toBeNull();
  const ofPublicPage = { ...preflight.headers, "access-control-request-private-network": "true" };
  const local = await fetch(`${operator.base}/data/request`, { ...preflight, headers: ofPublicPage });
  expect(local.headers.get("access-control-allow-private-network")).toBe("true");
  for (const absent of ["access-control-allow-credentials", "ratelimit"]) expect(headers.get(absent)).toBeNull();
  expect((await fetch(`${operator.base}/data/request`, { method: "OPTIONS" })).status).toBe(204);
  const problem = await operator.askForProblem(request({ network_id: 43 }), { origin });
  expect(problem.headers.get("access-control-allow-origin")).toBe("*");
  expect(problem.headers.get("access-control-expose-headers")).toContain("retry-after");
  // Every answer forbids scripts and frames.
  expect(problem.headers.get("x-content-type-options")).toBe("nosniff");
  expect(problem.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
});

// Without an answer from the service, its connection stays open for 72 s.
test("a request in flight at shutdown is answered with shutting_down at once", { timeout: 60_000 }, async () => {
  const closing = await start();
  for (const provider of providers) provider.behavior = "hangs";
  const before = asked();
  const answer = closing.askForProblem(body("SPOTPX/LATE-USD", false));
  await expect.poll(asked).toBe(before + 1);
  await closing.close();
  for (const provider of providers) provider.behavior = "honest";
  const problem = await answer;
  expect(problem).toMatchObject({ http: 503, code: "shutting_down" });
  expect(problem.headers.get("retry-after")).toBe("1");
});
