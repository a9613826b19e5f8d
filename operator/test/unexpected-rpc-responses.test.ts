import type { Address } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NetworkSettings } from "../src/config.js";
import { startCommittee } from "./support/committee.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type RpcFault, startRpcProxy } from "./support/rpc-proxy.js";

// The operator's RPC node gives invalid or unusual answers, and its gas budget suffices for one new key.

let operator: RunningOperator;
let counter = 0;
const newKey = () => `SPOTPX/O${counter++}-USD`;
const body = (key = newKey(), broadcast = true) => ({ network_id: 42, dataset, key, broadcast });
/** The fields that every block has. */
const HEAD = { number: "0x7", hash: `0x${"7".repeat(64)}`, timestamp: "0x7" };
const WAIT = { prefer: "wait=10" };

const { chain, providers, dataset } = await startCommittee(3);
const proxy = await startRpcProxy(chain.url);

beforeEach(async () => {
  proxy.calls.length = 0;
  operator = await startIdle({ rpcTimeoutMs: 2_000, gasPerHourForNewKeys: 130_000 });
});

/** Starts an operator, and waits for its queue's first pass, which must not meet a test's answers. */
async function startIdle(settings: Partial<NetworkSettings>): Promise<RunningOperator> {
  const started = await startOperator([{ chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] }]);
  await started.recovered;
  return started;
}

afterEach(async () => {
  proxy.faults.clear();
  proxy.answers.clear();
  proxy.calls.length = 0;
  await operator.close();
});

describe("the gas of a transaction", () => {
  test.each([
    ["eth_getTransactionCount", { result: null }, 502, "rpc_failed"],
    ["eth_sendRawTransaction", { error: { code: -32000, message: "exceeds block gas limit" } }, 502, "rpc_failed"],
  ])("is returned to the budget when it was not sent or was refused: %s %j", async (method, answer, status, code) => {
    proxy.answers.set(method, { body: answer });
    for (let i = 0; i < 3; i++) {
      const problem = await operator.askForProblem(body());
      expect([problem.http, problem.code]).toEqual([status, code]);
    }
    proxy.answers.clear();
    expect((await operator.ask(body(), WAIT)).status).toBe("OK");
  });

  test("stays counted when the node did not say that it refuses the transaction", async () => {
    proxy.answers.set("eth_sendRawTransaction", { body: { error: "upstream timed out" } });
    const problem = await operator.askForProblem(body());
    expect([problem.http, problem.code]).toEqual([502, "rpc_failed"]);
    expect(proxy.calls.map(({ method }) => method)).toContain("eth_getTransactionByHash");
    proxy.answers.clear();
    expect((await operator.askForProblem(body())).code).toBe("gas_budget_spent");
  });
});

describe("in the search for a new committee,", () => {
  test("a log of another event is not believed", async () => {
    const { hash } = HEAD;
    const result = [
      { data: "0x", topics: [hash], transactionHash: hash, blockNumber: "0x1", blockHash: hash, logIndex: "0x0" },
    ];
    const rotated = await chain.deploy(providers.slice(0, 1).map(({ address }) => address));
    const rpcUrls = [proxy.url];
    const rotating = await startOperator([{ chain, datasets: [rotated], providers, rpcUrls }]);
    await chain.setCommittee(
      rotated,
      providers.map(({ address }) => address),
    );
    proxy.answers.set("eth_getLogs", { body: { result } });
    // The answer names the reports' failure; the search for the committee failed silently.
    const problem = await rotating.askForProblem({ ...body(), dataset: rotated });
    expect([problem.http, problem.code]).toEqual([503, "update_reverted"]);
    proxy.answers.clear();
    expect((await rotating.ask({ ...body(), dataset: rotated })).reports.length).toBe(3);
    await rotating.close();
  });
});

test("a pool that shows an impossible nonce does not fail the updates that wait", async () => {
  const shown = { hash: HEAD.hash, nonce: `0x${"f".repeat(60)}`, to: dataset, input: "0x", gas: "0x1" };
  proxy.answers.set("txpool_contentFrom", { body: { result: { pending: {}, queued: { 7: shown } } } });
  let showPool = () => {};
  proxy.gates.set("txpool_contentFrom", new Promise((resolve) => (showPool = resolve)));
  const other = await startOperator([{ chain, datasets: [dataset], providers, rpcUrls: [proxy.url] }]);
  const asked = other.ask(body());
  await expect.poll(() => other.networks.get(42)?.senders.queues[0]?.depth.waiting, { timeout: 10_000 }).toBe(1);
  showPool();
  expect((await asked).status).toBe("OK");
  proxy.gates.clear();
  await other.close();
});

describe("fees", () => {
  const sentFees = async (hash: string | null | undefined) => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await chain.client.getTransaction({ hash: hash as Address });
    return [maxFeePerGas, maxPriorityFeePerGas];
  };

  test("the cap is a setting", async () => {
    const careful = await startIdle({ maxFeePerGasGwei: 7 });
    proxy.answers.set("eth_maxPriorityFeePerGas", { body: { result: "0x5af3107a4000" } });
    const answer = await careful.ask(body(), WAIT);
    expect(await sentFees(answer.transaction_hash)).toEqual([7_000_000_000n, 7_000_000_000n]);
    await careful.close();
  });

  test("a base fee above the cap is a 503, and broadcast false is still served", async () => {
    // 500 gwei and 1 wei.
    proxy.answers.set("eth_getBlockByNumber", { body: { result: { ...HEAD, baseFeePerGas: "0x746a528801" } } });
    const nonce = await chain.nonce(operator.account.address);
    const problem = await operator.askForProblem(body());
    expect([problem.http, problem.code]).toEqual([503, "fees_too_high"]);
    expect(problem.title).toContain("asks for 500.000000001 gwei per gas, and this operator offers at most 500 gwei");
    expect(await chain.nonce(operator.account.address)).toBe(nonce);
    expect(await operator.ask(body(newKey(), false))).toHaveProperty("transaction");
  });
});

test("an RPC error without revert data still leads to the new committee", async () => {
  const rotated = await chain.deploy(providers.slice(0, 1).map(({ address }) => address));
  const rotating = await startOperator([{ chain, datasets: [rotated], providers, rpcUrls: [proxy.url] }]);
  const others = providers.slice(1);
  await chain.setCommittee(
    rotated,
    others.map(({ address }) => address),
  );
  proxy.faults.set("*", "hides what a call reverted with" satisfies RpcFault);
  const answer = await rotating.ask({ ...body(), dataset: rotated, broadcast: false });
  expect(answer.reports.map(({ provider }) => provider)).toEqual(others.map(({ address }) => address));
  await rotating.close();
});
