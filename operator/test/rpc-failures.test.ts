import type { Hex } from "viem";
import { afterEach, expect, test } from "vitest";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee } from "./support/committee.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

// rpc-behaviours.test.ts has what single calls can be answered.

/** The clock stands still while the operator and another relayer send one round. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now();

const { chain, dataset, body, start } = await startCommittee(3);
const proxy = await startRpcProxy(chain.url);
const operator = await start({}, { clock }, { rpcUrls: [proxy.url] });

afterEach(() => {
  proxy.faults.clear();
  proxy.answers.clear();
});

test("GET /datasets is a 503 while the chain cannot be read", async () => {
  proxy.faults.set("*", "drops");
  const read = async () => {
    const response = await fetch(`${operator.base}/datasets`);
    return { status: response.status, ...((await response.json()) as object) };
  };
  await expect.poll(read).toMatchObject({ status: 503, code: "not_ready" });
  proxy.faults.clear();
  expect(await read()).toMatchObject({ status: 200 });
});

test("what an RPC refuses to a GET is in the log, and only there", async () => {
  proxy.answers.set("eth_getLogs", { body: { error: { code: -32005, message: "logs are for paying users" } } });
  const query = new URLSearchParams({ network_id: "42", dataset, key: "SPOTPX/NEVER-USD", limit: "1" });
  const response = await fetch(`${operator.base}/history?${query}`);
  const text = await response.text();
  expect([response.status, JSON.parse(text).code]).toEqual([502, "rpc_failed"]);
  expect(text).not.toContain("paying users");
  const about = { level: 40, code: "rpc_failed", method: "eth_getLogs" };
  const reason = expect.stringContaining("logs are for paying users");
  expect(operator.log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ ...about, reason }));
});

test("a transaction that changes nothing because another relayer was faster is answered with what that one stored", async () => {
  const request = body("SPOTPX/RACE-USD");
  stopped = Date.now();
  const { transaction, timestamp } = await operator.ask({ ...request, broadcast: false });
  let open = () => {};
  proxy.gates.set("eth_sendRawTransaction", new Promise((resolve) => (open = resolve)));
  proxy.calls.length = 0;
  const answer = operator.ask(request, { prefer: "wait=10" });
  await expect.poll(() => proxy.calls.map(({ method }) => method)).toContain("eth_sendRawTransaction");
  stopped = null;
  const params = [{ ...transaction, from: OTHER_ACCOUNT }];
  const hash = (await chain.client.request({ method: "eth_sendTransaction", params } as never)) as Hex;
  await chain.wait(hash);
  open();
  expect(await answer).toMatchObject({ status: "OK", timestamp, transaction_hash: hash, reports: [] });
});
