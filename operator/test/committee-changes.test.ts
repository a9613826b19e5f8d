import type { Address } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

const body = (dataset: Address, key: string) => ({ network_id: 42, dataset, key, broadcast: true });
const KEY = "SPOTPX/ETH-USD";

const [chain, providers] = await Promise.all([startChain(), startProviders(6)]);

afterEach(() => {
  for (const provider of providers) provider.behavior = "honest";
});

describe("a committee that changes while the operator runs", () => {
  test("is detected when the chain refuses the old one", async () => {
    const dataset = await chain.deploy(providers.slice(0, 4).map(({ address }) => address));
    const rotating = await startOperator([{ chain, datasets: [dataset], providers }]);
    const request = body(dataset, KEY);
    await rotating.ask(request, { prefer: "wait=10" });

    await chain.setCommittee(
      dataset,
      providers.slice(2, 6).map(({ address }) => address),
    );
    const answer = await rotating.ask(request, { prefer: "wait=10" });
    expect(answer.reports.map(({ provider }) => provider)).toEqual(providers.slice(2, 6).map(({ address }) => address));
    expect((await chain.query(dataset, request.key)).updatedAt).toBe(BigInt(answer.timestamp));
    const changes = rotating.log.filter((line) => line.includes("the committee has changed"));
    expect(changes.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, network: 42, dataset, members: providers.slice(2, 6).map(({ address }) => address) },
    ]);
    await rotating.close();
  });

  test("is detected when the old one no longer answers", async () => {
    const dataset = await chain.deploy(providers.slice(0, 3).map(({ address }) => address));
    const settings = { providerTimeoutMs: 500 };
    const rotating = await startOperator([{ chain, datasets: [dataset], providers, settings }]);
    for (const provider of providers.slice(0, 3)) provider.behavior = "hangs";
    await chain.setCommittee(
      dataset,
      providers.slice(3, 6).map(({ address }) => address),
    );
    const answer = await rotating.ask(body(dataset, KEY));
    expect(answer.reports.length).toBe(3);
    await rotating.close();
  });
});

test("a member without an endpoint is reported", async () => {
  const outsider = "0xffffffffffffffffffffffffffffffffffffffff";
  const members = [...providers.slice(0, 2).map(({ address }) => address), outsider] as const;
  const dataset = await chain.deploy(members);
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const lacking = await startOperator([{ chain, datasets: [dataset], providers }], { clock });
  const problem = await lacking.askForProblem(body(dataset, KEY));
  expect(problem.failures).toMatchObject([{ host: null, reason: "no_endpoint" }]);
  expect(problem.detail).not.toContain("Try again");
  ahead = 60_000;
  await lacking.askForProblem(body(dataset, KEY));
  const warnings = lacking.log.filter((line) => line.includes("no URL of it is known"));
  expect(warnings.map((line) => JSON.parse(line).provider.toLowerCase())).toEqual([outsider]);
  await lacking.close();
});
