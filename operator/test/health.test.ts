import { parseEther } from "viem";
import { expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

/** anvil does not offer everything. */
const ENDPOINT = { endpoint: "rpcUrls/0", ready: true, without: expect.any(Array) };

const get = (path: string) => fetch(`${operator.base}${path}`, { signal: AbortSignal.timeout(10_000) });

const { chain, providers, dataset } = await startCommittee(4);
const proxy = await startRpcProxy(chain.url);
const operator = await startOperator([{ chain, datasets: [dataset], providers, rpcUrls: [proxy.url] }]);

test("shows liveness, and readiness with the capabilities of each network", async () => {
  expect(await (await get("/live")).json()).toEqual({ live: true });
  await expect.poll(async () => (await get("/ready")).status).toBe(200);
  const networks = [{ network_id: 42, rpc: true, broadcasting: "ok", endpoints: [ENDPOINT] }];
  expect(await (await get("/ready")).json()).toEqual({ ready: true, networks });
});

test("shows a low balance, which does not affect readiness", async () => {
  const settings = { lowBalanceGwei: 200_000_000_000 };
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const poor = await startOperator([{ chain, datasets: [dataset], providers, settings }], { clock });
  const response = await fetch(`${poor.base}/ready`);
  expect([response.status, await response.json()]).toEqual([
    200,
    { ready: true, networks: [{ network_id: 42, rpc: true, broadcasting: "low_balance", endpoints: [ENDPOINT] }] },
  ]);
  const lines = () => poor.log.map((line) => JSON.parse(line)).filter(({ msg }) => /balance is/.test(msg));
  const sender = poor.account.address;
  expect(lines()).toMatchObject([{ level: 40, network: 42, sender, balanceEther: 100 }]);
  ahead = 60_000;
  await fetch(`${poor.base}/ready`);
  await chain.client.setBalance({ address: sender, value: parseEther("201") });
  ahead = 120_000;
  await fetch(`${poor.base}/ready`);
  expect(lines().slice(1)).toMatchObject([{ level: 30, network: 42, sender, balanceEther: 201 }]);
  await chain.client.setBalance({ address: sender, value: 0n });
  ahead = 180_000;
  await fetch(`${poor.base}/ready`);
  const isZero = expect.stringContaining("balance is zero: fund it");
  expect(lines().slice(2)).toMatchObject([{ level: 40, network: 42, sender, balanceEther: 0, msg: isZero }]);
  await poor.close();
  const keyless = await startOperator([{ chain, datasets: [dataset], providers }], { hasSender: false });
  expect(await (await fetch(`${keyless.base}/ready`)).json()).toMatchObject({
    networks: [{ broadcasting: "no_key" }],
  });
  await keyless.close();
});

test("shows and logs once what an endpoint does not offer, and updates go on without it", async () => {
  const error = { code: -32000, message: "pending block is not available" };
  const withoutPending = await startRpcProxy(chain.url);
  withoutPending.script = ({ params }) => (params.includes("pending") ? { body: { error } } : null);
  const rpcUrls = [withoutPending.url];
  const limited = await startOperator([{ chain, datasets: [dataset], providers, rpcUrls }]);
  for (const key of ["SPOTPX/P0-USD", "SPOTPX/P1-USD"]) {
    const answer = await limited.ask({ network_id: 42, dataset, key, broadcast: true }, { prefer: "wait=10" });
    expect(await chain.query(dataset, key)).toMatchObject({ updatedAt: BigInt(answer.timestamp) });
  }
  const kinds = ["eth_call pending", "eth_estimateGas pending", "eth_getTransactionCount pending"];
  expect(await (await fetch(`${limited.base}/ready`)).json()).toMatchObject({
    networks: [{ endpoints: [{ ...ENDPOINT, without: expect.arrayContaining(kinds) }] }],
  });
  const logged = limited.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes("does not offer"));
  for (const kind of kinds) expect(logged.filter(({ request }) => request === kind).length).toBe(1);
  await limited.close();
});

test("shows live but not ready without an RPC endpoint, and ready again with one", async () => {
  proxy.faults.set("*", "HTTP 500");
  await expect.poll(async () => (await get("/ready")).status, { timeout: 10_000 }).toBe(503);
  expect(await (await get("/ready")).json()).toMatchObject({
    code: "not_ready",
    networks: [{ network_id: 42, rpc: false, broadcasting: "no_rpc", endpoints: [{ ...ENDPOINT, ready: false }] }],
  });
  expect((await get("/live")).status).toBe(200);
  proxy.faults.clear();
  await expect.poll(async () => (await get("/ready")).status, { timeout: 20_000 }).toBe(200);
});
