import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, expect, test, vi } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

// rpc-behaviours.test.ts has what single calls can be answered.

let counter = 0;
/** The clock stands still while two operators are asked for one round. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now();
const body = (broadcast = true) => ({ network_id: 42, dataset, key: `SPOTPX/R${counter++}-USD`, broadcast });

const { chain, providers, dataset } = await startCommittee(3);
const proxy = await startRpcProxy(chain.url);
const served = { chain, datasets: [dataset], providers, rpcUrls: [proxy.url] };
const operator = await startOperator([served], { account: privateKeyToAccount(generatePrivateKey()), clock });
await operator.recovered;

afterEach(() => proxy.faults.clear());

test("GET /datasets is a 503 while the chain cannot be read", async () => {
  proxy.faults.set("*", "drops");
  const read = async () => {
    const response = await fetch(`${operator.base}/datasets`);
    return { status: response.status, ...((await response.json()) as object) };
  };
  await expect.poll(read).toMatchObject({ status: 503, code: "not_ready" });
  proxy.faults.clear();
  expect((await fetch(`${operator.base}/datasets`)).status).toBe(200);
});

test("what an RPC refuses to a GET is in the log, and only there", async () => {
  proxy.answers.set("eth_getLogs", { body: { error: { code: -32005, message: "logs are for paying users" } } });
  operator.log.length = 0;
  const query = new URLSearchParams({ network_id: "42", dataset, key: "SPOTPX/NEVER-USD", limit: "1" });
  const response = await fetch(`${operator.base}/history?${query}`);
  proxy.answers.clear();
  const text = await response.text();
  expect([response.status, JSON.parse(text).code]).toEqual([502, "rpc_failed"]);
  expect(text).not.toContain("paying users");
  const lines = operator.log.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  const reason = expect.stringContaining("logs are for paying users");
  expect(lines).toMatchObject([{ code: "rpc_failed", method: "eth_getLogs", reason }]);
});

test("the nonce is read from pending, never from latest alone", async () => {
  proxy.calls.length = 0;
  await operator.ask(body());
  const counts = proxy.calls.filter(({ method }) => method === "eth_getTransactionCount");
  expect(new Set(counts.map(({ params }) => params[1]))).toEqual(new Set(["latest", "pending"]));
});

test("a transaction that changes nothing because another relayer was faster is answered with what that one stored", async () => {
  // It waits for its transaction as long as the test takes.
  const slow = await startOperator([{ chain, datasets: [dataset], providers, rpcUrls: [proxy.url] }], { clock });
  const request = body();
  stopped = Date.now();
  const { transaction, timestamp } = await operator.ask({ ...request, broadcast: false });
  let open = () => {};
  proxy.gates.set("eth_sendRawTransaction", new Promise((resolve) => (open = resolve)));
  proxy.calls.length = 0;
  const answer = slow.ask(request, { prefer: "wait=10" });
  const isSending = () => proxy.calls.some(({ method }) => method === "eth_sendRawTransaction");
  await vi.waitUntil(isSending, { timeout: 5_000 });
  stopped = null;
  const params = [{ ...transaction, from: OTHER_ACCOUNT }];
  const hash = (await chain.client.request({ method: "eth_sendTransaction", params } as never)) as Hex;
  await chain.client.mine({ blocks: 1 });
  proxy.gates.clear();
  open();
  expect(await answer).toMatchObject({ status: "OK", timestamp, transaction_hash: hash, reports: [] });
  await slow.close();
});
