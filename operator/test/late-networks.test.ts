import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import { type Address, encodeFunctionData, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee, WAIT } from "./support/committee.js";
import { type NetworkSetup, type OperatorOptions, startOperator } from "./support/operator.js";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.js";

/** What an operator does while a network cannot be connected, and once it can. */

const KEY = "SPOTPX/ETH-USD";
const FEED = "SPOTPX/FEED-USD";
const EMPTY = { body: { result: "0x" } };

/** New for each test, so that nothing is stored. */
let dataset: Address;
let proxy: RpcProxy;

const { chain, providers, members } = await startCommittee(5);

beforeEach(async () => {
  dataset = await chain.deploy(members);
  proxy = await startRpcProxy(chain.url);
});

const request = (network_id = 42) => ({ network_id, dataset, key: KEY, broadcast: true });
const nobody = () => privateKeyToAccount(generatePrivateKey()).address;

async function start(changes: Partial<NetworkSetup>, others: NetworkSetup[] = [], options: OperatorOptions = {}) {
  const served = { chain, datasets: [dataset], providers, rpcUrls: [proxy.url], ...changes };
  const operator = await startOperator([served, ...others], { ...options, mayLackNetworks: true });
  onTestFinished(() => operator.close());
  const get = async (path: string) => {
    const response = await fetch(`${operator.base}${path}`);
    return { status: response.status, body: (await response.json()) as Body };
  };
  const missing = async () => {
    const { body } = await get("/ready");
    return body.networks?.find(({ network_id }) => network_id === 42)?.missing;
  };
  const becomesReady = () => expect.poll(async () => (await get("/ready")).status).toBe(200);
  return { ...operator, get, missing, becomesReady };
}

/** The parts of answers that the tests read. */
interface Body {
  readonly title?: string;
  readonly networks?: readonly { readonly network_id: number; readonly missing?: string }[];
}

describe("an operator whose only endpoint refuses everything", () => {
  test("starts, says what is missing, and does all of its work once the endpoint answers", async () => {
    proxy.faults.set("*", "HTTP 429");
    const feed = { dataset, keys: [FEED], heartbeatSeconds: 3_600, deviationBps: 10_000, minIntervalSeconds: 1 };
    const operator = await start({ settings: { feeds: [feed] } });
    expect(await operator.get("/live")).toMatchObject({ status: 200 });
    const missing = "The RPC of network 42 failed.";
    const lacking = { network_id: 42, rpc: false, broadcasting: "not_served", missing };
    expect(await operator.get("/ready")).toMatchObject({ status: 503, body: { networks: [lacking] } });
    expect(await operator.get("/datasets")).toEqual({ status: 200, body: [] });
    expect(await operator.get("/overview")).toMatchObject({ status: 200, body: { networks: [] } });
    expect(await operator.registry.metrics()).toContain('operator_network_ready{network="42"} 0');

    const problem = await operator.askForProblem(request());
    expect([problem.http, problem.code, problem.headers.get("retry-after")]).toEqual([503, "not_ready", "5"]);
    const args = [dataset, stringToHex(KEY)] as const;
    const lookup = encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args });
    const gateway = `/gateway/42/${OTHER_ACCOUNT}/${lookup}`;
    expect(await operator.get(gateway)).toMatchObject({ status: 503, body: { code: "not_ready" } });
    expect(await operator.askForProblem(request(1))).toMatchObject({ http: 422, served_network_ids: [42] });

    proxy.faults.clear();
    await operator.becomesReady();
    const answer = await operator.ask(request(), WAIT);
    expect((await chain.query(dataset, KEY)).updatedAt).toBe(BigInt(answer.timestamp));
    expect(await operator.get("/datasets")).toMatchObject({ status: 200, body: [{ network_id: 42, dataset }] });
    expect(await operator.get("/overview")).toMatchObject({ body: { networks: [{ network_id: 42 }] } });
    expect(await operator.get(gateway)).toMatchObject({ status: 200, body: { data: expect.stringMatching(/^0x/) } });
    await expect.poll(async () => (await chain.query(dataset, FEED)).status).toBe("OK");
    expect(operator.log.join("\n")).not.toContain("token-nobody-may-see");
  });

  test("recovers what an earlier process left pending, once the endpoint answers", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const first = await start({ rpcUrls: [chain.url] }, [], { account });
    await chain.pauseMining();
    onTestFinished(() => chain.resumeMining());
    await first.ask(request());
    await first.close();
    proxy.faults.set("*", "HTTP 429");
    const second = await start({}, [], { account });
    proxy.faults.clear();
    const found = () => second.log.some((line) => line.includes("a pending transaction was not sent by this process"));
    await expect.poll(found).toBe(true);
  });

  test("does not use it if it comes back with another chain id, and says so", async () => {
    proxy.faults.set("*", "HTTP 429");
    const operator = await start({});
    proxy.answers.set("eth_chainId", { body: { result: "0x2b" } });
    await expect.poll(operator.missing).toContain("rpcUrls/0 belongs to network 43");
    expect((await operator.askForProblem(request())).http).toBe(503);
    proxy.answers.clear();
    proxy.faults.clear();
    await operator.becomesReady();
  });
});

test("of two networks, the one whose RPC is dead keeps no request for the other waiting", async () => {
  const dead = { chain: { ...chain, chainId: 1 }, datasets: [nobody()], providers, rpcUrls: ["http://127.0.0.1:1"] };
  const operator = await start({}, [dead]);
  await operator.ask(request(), WAIT);
  expect(await operator.get("/datasets")).toMatchObject({ status: 200, body: [{ network_id: 42, dataset }] });
  expect(await operator.askForProblem(request(1))).toMatchObject({ http: 503, code: "not_ready" });
  expect(await operator.askForProblem(request(2))).toMatchObject({ http: 422, served_network_ids: [42, 1] });
  const { status, body } = await operator.get("/ready");
  expect([status, body.title]).toEqual([503, "Network 1 cannot be read at the moment."]);
  expect(body.networks).toMatchObject([
    { network_id: 42, rpc: true, broadcasting: "ok" },
    { network_id: 1, rpc: false, missing: "The RPC of network 1 failed." },
  ]);
});

test("a node that is syncing, and so has no code at the dataset's address, is waited for", async () => {
  const hash = `0x${"0".repeat(63)}1`;
  proxy.answers.set("eth_getBlockByNumber", {
    body: { result: { number: "0x0", hash, timestamp: "0x1", gasLimit: "0x1c9c380" } },
  });
  proxy.answers.set("eth_blockNumber", { body: { result: "0x0" } });
  for (const method of ["eth_getCode", "eth_call"]) proxy.answers.set(method, EMPTY);
  const operator = await start({});
  expect(await operator.missing()).toMatch(
    /^dataset 0x\w+ is not a contract, at a block that is \d+ s old: the node may/,
  );
  proxy.answers.clear();
  await operator.becomesReady();
  await operator.ask(request());
});
