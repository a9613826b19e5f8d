import { clockOf } from "@dataset-oracle/tools/clock-of";
import { afterEach, describe, expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import { startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

const KEY = "SPOTPX/ETH-USD";

const { chain, providers, members, body } = await startCommittee(6);

afterEach(() => {
  for (const provider of providers) provider.behavior = "honest";
});

describe("a committee that changes while the operator runs is detected", () => {
  /** Starts an operator, and changes the committee from the first three providers to the others. */
  async function rotate(settings: object = {}) {
    const dataset = await chain.deploy(members.slice(0, 3));
    const proxy = await startRpcProxy(chain.url);
    const operator = await startOperator([{ chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] }]);
    await chain.setCommittee(dataset, members.slice(3));
    const ask = (key: string) => operator.ask(body(key, true, { dataset }), WAIT);
    return { dataset, operator, proxy, ask };
  }
  const signersOf = ({ reports }: { readonly reports: readonly { readonly provider: string }[] }) =>
    reports.map(({ provider }) => provider);

  test("when the chain refuses the old one", async () => {
    const { dataset, operator, ask } = await rotate();
    const answer = await ask(KEY);
    expect(signersOf(answer)).toEqual(members.slice(3));
    expect((await chain.query(dataset, KEY)).updatedAt).toBe(BigInt(answer.timestamp));
    const changes = operator.log.filter((line) => line.includes("the committee has changed"));
    expect(changes.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, network: 42, dataset, members: members.slice(3) },
    ]);
  });

  test("when the datasets are listed", async () => {
    const { operator } = await rotate();
    const response = await fetch(`${operator.base}/datasets`);
    const [listed] = (await response.json()) as { providers: { address: string }[] }[];
    expect(listed?.providers.map(({ address }) => address)).toEqual(members.slice(3));
  });

  test("when the old one no longer answers", async () => {
    const { ask } = await rotate({ providerTimeoutMs: 10_000 });
    for (const provider of providers.slice(0, 3)) provider.behavior = "hangs";
    expect(signersOf(await ask(KEY))).toEqual(members.slice(3));
  });

  test("when the RPC hides what a call reverted with", async () => {
    const { proxy, ask } = await rotate();
    const error = { code: 3, message: "execution reverted" };
    proxy.script = async ({ method, params }) => {
      if (method !== "eth_call" && method !== "eth_estimateGas") return null;
      const request = { method, params } as never;
      const result = await chain.client.request(request).catch(() => null);
      return result === null ? { body: { error } } : { body: { result } };
    };
    expect(signersOf(await ask(KEY))).toEqual(members.slice(3));
  });
});

test("a member without an endpoint is reported", async () => {
  const outsider = "0xffffffffffffffffffffffffffffffffffffffff";
  const dataset = await chain.deploy([...members.slice(0, 2), outsider]);
  let ahead = 0;
  const lacking = await startOperator([{ chain, datasets: [dataset], providers }], {
    clock: clockOf(() => Date.now() + ahead),
  });
  const problem = await lacking.askForProblem(body(KEY, true, { dataset }));
  expect(problem.failures).toMatchObject([{ host: null, reason: "no_endpoint" }]);
  expect(problem.detail).not.toContain("Try again");
  ahead = 60_000;
  await lacking.askForProblem(body(KEY, true, { dataset }));
  const warnings = lacking.log.filter((line) => line.includes("no URL of it is known"));
  expect(warnings.map((line) => JSON.parse(line).provider.toLowerCase())).toEqual([outsider]);
});
