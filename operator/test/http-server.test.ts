import { expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";

const KEY = "SPOTPX/ETH-USD";
const body = (more: object = {}) => ({ network_id: 42, dataset, key: KEY, broadcast: false, ...more });

const { chain, providers, dataset } = await startCommittee(1);
const operator = await startOperator([{ chain, datasets: [dataset], providers }], { basePath: "/oracle" });

test("a page of any origin may post", async () => {
  const response = await fetch(`${operator.base}/data/request`, {
    method: "OPTIONS",
    headers: {
      origin: "https://dapp.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,prefer",
    },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("access-control-allow-methods")).toContain("POST");
  expect(response.headers.get("access-control-allow-headers")).toContain("prefer");
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  expect(response.headers.get("access-control-max-age")).toBe("86400");
  expect(response.headers.get("ratelimit")).toBeNull();
});

test("OPTIONS without a preflight is a 204 too", async () => {
  expect((await fetch(`${operator.base}/data/request`, { method: "OPTIONS" })).status).toBe(204);
});

test("a problem can be read by a page of any origin", async () => {
  const problem = await operator.askForProblem(body({ network_id: 43 }), { origin: "https://dapp.example" });
  expect(problem.headers.get("access-control-allow-origin")).toBe("*");
  expect(problem.headers.get("access-control-expose-headers")).toContain("retry-after");
});

test("GET /live answers", async () => {
  const response = await fetch(`${operator.base.replace("/oracle", "")}/live`);
  expect(response.status).toBe(200);
});

test("every answer forbids scripts and frames", async () => {
  for (const response of [
    await fetch(`${operator.base}/datasets`),
    await fetch(`${operator.base}/nowhere`),
    await operator.post("{"),
  ]) {
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  }
});

// Without an answer from the service, its connection stays open for 72 s.
test("a request in flight at shutdown is answered with shutting_down at once", { timeout: 20_000 }, async () => {
  const [provider] = providers;
  if (provider === undefined) throw new Error("There is no provider.");
  const other = await chain.deploy([provider.address]);
  const closing = await startOperator([{ chain, datasets: [other], providers }]);
  provider.behavior = "hangs";
  const asked = provider.asked.length;
  const answer = closing.askForProblem(body({ dataset: other }));
  while (provider.asked.length === asked) await new Promise((resolve) => setTimeout(resolve, 10));
  await closing.close();
  provider.behavior = "honest";
  const problem = await answer;
  expect([problem.http, problem.code]).toEqual([503, "shutting_down"]);
  expect(problem.headers.get("retry-after")).toBe("1");
});
