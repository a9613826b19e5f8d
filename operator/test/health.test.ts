import { clockOf } from "@dataset-oracle/tools/clock-of";
import { parseEther } from "viem";
import { expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import type { RunningOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import type { StubProvider } from "./support/stub-providers.js";

/** anvil does not offer everything. */
const ENDPOINT = { endpoint: "rpcUrls/0", ready: true, without: expect.any(Array) };

const { chain, providers, body, start } = await startCommittee(4);

async function get({ base }: RunningOperator, path: string) {
  const response = await fetch(`${base}${path}`);
  return { status: response.status, body: await response.json() };
}

test("shows liveness, and readiness with the capabilities of each network, also while its RPC endpoint fails", async () => {
  const proxy = await startRpcProxy(chain.url);
  const operator = await start({}, {}, { rpcUrls: [proxy.url] });
  const network = { network_id: 42, rpc: true, broadcasting: "ok", endpoints: [ENDPOINT] };
  const ready = { status: 200, body: { ready: true, networks: [network] } };
  await expect.poll(() => get(operator, "/ready")).toEqual(ready);
  proxy.faults.set("*", "HTTP 500");
  const failed = { rpc: false, broadcasting: "no_rpc", endpoints: [{ ...ENDPOINT, ready: false }] };
  const notReady = { status: 503, body: { code: "not_ready", networks: [failed] } };
  await expect.poll(() => get(operator, "/ready")).toMatchObject(notReady);
  expect(await get(operator, "/live")).toEqual({ status: 200, body: { live: true } });
  expect(await get(operator, "/datasets")).toMatchObject({ status: 503, body: { code: "not_ready" } });
  proxy.faults.clear();
  await expect.poll(() => get(operator, "/ready")).toEqual(ready);
});

test("shows which providers fail where no update can have a quorum, and stays ready", async () => {
  const operator = await start();
  const [first, second] = providers as [StubProvider, StubProvider];
  const missing = async () => {
    await operator.post(body("SPOTPX/BTC-USD", false));
    const { status, body: answer } = await get(operator, "/ready");
    return [status, (answer as { networks: { missing?: string }[] }).networks[0]?.missing];
  };
  first.behavior = "closes the connection";
  expect(await missing()).toEqual([200, undefined]);
  second.behavior = "garbage";
  const [one, other] = [first, second].map(({ address, url }) => `${address} (${new URL(url).host})`);
  // Requests in the same second share an answer.
  await expect
    .poll(missing)
    .toEqual([200, `Too few data providers answer. ${one}: unreachable; ${other}: invalid_report.`]);
  for (const provider of providers) provider.behavior = "honest";
  await expect.poll(missing).toEqual([200, undefined]);
});

test("shows a low balance, which does not affect readiness", async () => {
  let ahead = 0;
  const poor = await start({ lowBalanceGwei: 200_000_000_000 }, { clock: clockOf(() => Date.now() + ahead) });
  const sender = poor.account.address;
  const low = { body: { ready: true, networks: [{ broadcasting: "low_balance" }] } };
  await expect.poll(() => get(poor, "/ready")).toMatchObject({ status: 200, ...low });
  const lines = () => poor.log.map((line) => JSON.parse(line)).filter(({ msg }) => /balance is/.test(msg));
  expect(lines()).toMatchObject([{ level: 40, network: 42, sender, balanceEther: 100 }]);
  const becomes = async (balance: string, said: object) => {
    await chain.client.setBalance({ address: sender, value: parseEther(balance) });
    const lastLine = async () => {
      ahead += 60_000;
      await get(poor, "/ready");
      return lines().at(-1);
    };
    await expect.poll(lastLine).toMatchObject({ sender, balanceEther: Number(balance), ...said });
  };
  await becomes("201", { level: 30 });
  await becomes("0", { level: 40, msg: expect.stringContaining("balance is zero: fund it") });
  const keyless = await start({}, { hasSender: false });
  expect(await get(keyless, "/ready")).toMatchObject({ body: { networks: [{ broadcasting: "no_key" }] } });
});

test("shows and logs once what an endpoint does not offer, and updates go on without it", async () => {
  const error = { code: -32000, message: "pending block is not available" };
  const proxy = await startRpcProxy(chain.url);
  proxy.script = ({ params }) => (params.includes("pending") ? { body: { error } } : null);
  const limited = await start({}, {}, { rpcUrls: [proxy.url] });
  for (const key of ["SPOTPX/P0-USD", "SPOTPX/P1-USD"]) await limited.ask(body(key), WAIT);
  const kinds = ["eth_call pending", "eth_estimateGas pending", "eth_getTransactionCount pending"];
  expect(await get(limited, "/ready")).toMatchObject({
    body: { networks: [{ endpoints: [{ ...ENDPOINT, without: expect.arrayContaining(kinds) }] }] },
  });
  const logged = limited.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes("does not offer"));
  for (const kind of kinds) expect(logged.filter(({ request }) => request === kind).length).toBe(1);
});
