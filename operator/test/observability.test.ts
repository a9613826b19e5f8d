import { stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import type { Provider } from "./support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";

const body = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });

const { chain, providers, dataset } = await startCommittee(4);
const proxy = await startRpcProxy(chain.url);
const feed = { dataset, keys: [KEY], heartbeatSeconds: 3_600, deviationBps: 50, minIntervalSeconds: 3_600 };
const settings = { feeds: [feed], feedPollMs: 200 };
const operator = await startOperator([{ chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] }]);

/** Reads the metrics as Prometheus does: each line's value by its name and labels. */
async function readMetrics(): Promise<Map<string, number>> {
  const lines = (await operator.registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

describe("metrics", () => {
  const sum = (all: Map<string, number>, start: string, ...parts: string[]) =>
    [...all].reduce((total, [name, value]) => {
      const isMeant = name.startsWith(start) && parts.every((part) => name.includes(part));
      return isMeant ? total + value : total;
    }, 0);

  test("show requests by outcome, providers by failure, and shared work", async () => {
    await operator.ask(body("SPOTPX/BTC-USD"), { prefer: "wait=10" });
    await operator.askForProblem(body("nonsense"));
    (providers[0] as Provider).behavior = "garbage";
    const asks = Array.from({ length: 6 }, () => operator.ask(body("SPOTPX/SOL-USD", false)));
    await Promise.all(asks);
    const working = `operator_committee_members{network="42",dataset="${dataset}",state="working"}`;
    expect((await readMetrics()).get(working)).toBe(3);
    (providers[0] as Provider).behavior = "honest";

    const all = await readMetrics();
    const requests = "http_request_duration_seconds_count";
    expect(sum(all, requests, 'route="/data/request"', 'outcome="ok"')).toBe(7);
    expect(sum(all, requests, 'route="/data/request"', 'outcome="invalid_key"')).toBe(1);
    const asked = "operator_provider_request_duration_seconds_count";
    expect(sum(all, asked, `provider="${providers[1]?.address}"`, 'outcome="ok"')).toBeGreaterThanOrEqual(2);
    expect(sum(all, asked, `provider="${providers[0]?.address}"`, 'outcome="invalid_report"')).toBeGreaterThanOrEqual(
      1,
    );
    expect(sum(all, "operator_coalesced_total", 'work="unsent"')).toBeGreaterThanOrEqual(4);
  });

  test("show the queue, the sender's balance, and the age of each feed's data", async () => {
    const labels = `network="42",sender="${operator.account.address}"`;
    await expect
      .poll(
        async () =>
          (await readMetrics()).get(
            `operator_feed_age_seconds{network="42",dataset="${dataset}",key="${stringToHex(KEY)}"}`,
          ) ?? -1,
        { timeout: 10_000 },
      )
      .toBeGreaterThan(0);
    const all = await readMetrics();
    for (const state of ["waiting", "sent"]) {
      expect(all.get(`operator_queue_transactions{${labels},state="${state}"}`)).toBeGreaterThanOrEqual(0);
    }
    const mined = `operator_queue_events_total{${labels},event="mined"}`;
    await expect.poll(async () => (await readMetrics()).get(mined)).toBeGreaterThanOrEqual(1);
    for (const event of ["replaced", "cancelled", "rebroadcast", "reorged", "lost", "unsigned"]) {
      expect(all.get(`operator_queue_events_total{${labels},event="${event}"}`)).toBe(0);
    }
    const feed = `network="42",dataset="${dataset}",key="${stringToHex(KEY)}"`;
    expect(all.get(`operator_feed_heartbeat_seconds{${feed}}`)).toBe(3_600);
    const used = (budget: string) => all.get(`operator_gas_budget_used_ratio{network="42",budget="${budget}"}`);
    expect(used("feeds")).toBeGreaterThan(0);
    expect(used("feeds")).toBeLessThan(0.1);
    expect(all.get(`operator_sender_balance_ether{${labels}}`)).toBeGreaterThan(99);
    expect(all.get(`operator_sender_balance_ether{${labels}}`)).toBeLessThanOrEqual(100);
    expect(all.get('operator_network_ready{network="42"}')).toBe(1);
    expect(all.get('operator_rpc_endpoint_head_block{network="42",endpoint="rpcUrls/0"}')).toBeGreaterThan(0);
  });

  test("show an endpoint that is not ready, and the members that work again", async () => {
    proxy.faults.set("*", "HTTP 500");
    const head = 'operator_rpc_endpoint_head_block{network="42",endpoint="rpcUrls/0"}';
    await expect.poll(async () => (await readMetrics()).get(head)).toBe(0);
    proxy.faults.clear();
    await expect.poll(async () => (await readMetrics()).get(head)).toBeGreaterThan(0);
    const state = (name: string) => `operator_committee_members{network="42",dataset="${dataset}",state="${name}"}`;
    const states = async () => {
      // Until all have answered in time.
      await operator.ask(body("SPOTPX/DOT-USD", false));
      const all = await readMetrics();
      return [all.get(state("working")), all.get(state("failing"))];
    };
    await expect.poll(states, { interval: 1_000 }).toEqual([4, 0]);
  });

  test("count RPC calls that failed, by class", async () => {
    proxy.faults.set("eth_sendRawTransaction", "HTTP 500");
    expect((await operator.askForProblem(body("SPOTPX/ADA-USD"))).http).toBe(502);
    proxy.faults.clear();
    const all = await readMetrics();
    const labels = 'network="42",endpoint="rpcUrls/0",method="eth_sendRawTransaction",class="failed"';
    expect(all.get(`operator_rpc_errors_total{${labels}}`)).toBeGreaterThanOrEqual(1);
  });

  test("name no caller's key and no secret", async () => {
    const text = await operator.registry.metrics();
    for (const secret of ["SPOTPX", stringToHex("SPOTPX/BTC-USD"), "token-nobody-may-see"]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("a request's trace", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";

  test("is passed on to the providers and into every log line of the request", async () => {
    const asked = providers[2]?.traces.length;
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, "x-request-id": "checkout-4711" };
    const response = await operator.post(body("SPOTPX/XRP-USD"), { ...headers, prefer: "wait=10" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-request-id")).toBe("checkout-4711");
    const [forwarded] = providers[2]?.traces.slice(asked) ?? [];
    expect(forwarded).toMatch(new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
    const sent = operator.log
      .map((line) => JSON.parse(line))
      .find((line) => line.trace_id === traceId && line.msg === "update sent");
    expect(sent).toMatchObject({ request_id: "checkout-4711", key: stringToHex("SPOTPX/XRP-USD") });
  });

  test.each([
    ["is missing", "A", {}],
    ["cannot be read", "B", { traceparent: "nonsense" }],
    ["is all zeros", "C", { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }],
    ["is of version ff", "D", { traceparent: `ff-${traceId}-b7ad6b7169203331-01` }],
  ])("is new when the caller's %s, as is a request id with special characters", async (_, base, headers) => {
    const asked = providers[2]?.traces.length;
    const response = await operator.post(body(`SPOTPX/${base}-USD`, false), { ...headers, "x-request-id": "<script>" });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    for (const forwarded of providers[2]?.traces.slice(asked) ?? []) {
      expect(forwarded).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      expect(forwarded).not.toContain("0".repeat(32));
    }
  });
});
