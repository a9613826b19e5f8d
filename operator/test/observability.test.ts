import { stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import type { StubProvider } from "./support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";

const { chain, providers, dataset, body, start } = await startCommittee(4);
const proxy = await startRpcProxy(chain.url);
const feed = { dataset, keys: [KEY], heartbeatSeconds: 3_600, deviationBps: 50, minIntervalSeconds: 3_600 };
const operator = await start({ feeds: [feed], feedPollMs: 200 }, {}, { rpcUrls: [proxy.url] });
const [first] = providers as [StubProvider];

/** Reads the metrics as Prometheus does: each line's value by its name and labels. */
async function readMetrics(): Promise<Map<string, number>> {
  const lines = (await operator.registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

/** Returns the value of the metric with exactly these labels. */
const readMetric = async (name: string, labels: string) => (await readMetrics()).get(`${name}{network="42",${labels}}`);
/** Returns the sum of a metric over all lines with these labels. */
const sumOf = async (name: string, ...labels: string[]) =>
  [...(await readMetrics())]
    .filter(([line]) => line.startsWith(name) && labels.every((label) => line.includes(label)))
    .reduce((sum, [, value]) => sum + value, 0);

describe("metrics", () => {
  const working = () => sumOf("operator_member_working", `dataset="${dataset}"`);

  test("show requests by outcome, providers by failure, and shared work", async () => {
    await operator.ask(body("SPOTPX/BTC-USD"), WAIT);
    await operator.askForProblem(body("nonsense"));
    first.behavior = "garbage";
    await Promise.all(Array.from({ length: 6 }, () => operator.ask(body("SPOTPX/SOL-USD", false))));
    expect(await working()).toBe(3);
    const ofFirst = `dataset="${dataset}",provider="${first.address}",host="${new URL(first.url).host}"`;
    expect(await readMetric("operator_member_working", `${ofFirst},reason="invalid_report"`)).toBe(0);
    first.behavior = "honest";

    const requests = "http_request_duration_seconds_count";
    expect(await sumOf(requests, 'route="/data/request"', 'outcome="ok"')).toBe(7);
    expect(await sumOf(requests, 'route="/data/request"', 'outcome="invalid_key"')).toBe(1);
    const asked = "operator_provider_request_duration_seconds_count";
    expect(await sumOf(asked, `provider="${providers[1]?.address}"`, 'outcome="ok"')).toBeGreaterThanOrEqual(2);
    expect(await sumOf(asked, `provider="${first.address}"`, 'outcome="invalid_report"')).toBeGreaterThanOrEqual(1);
    expect(await sumOf("operator_coalesced_total", 'work="unsent"')).toBeGreaterThanOrEqual(1);
    // Once all have answered in time.
    const states = async () => {
      await operator.ask(body("SPOTPX/DOT-USD", false));
      return working();
    };
    await expect.poll(states, { interval: 500 }).toBe(4);
  });

  test("show the queue, the sender's balance, and the age of each feed's data", async () => {
    const sender = `sender="${operator.account.address}"`;
    const fed = `dataset="${dataset}",key="${KEY}"`;
    await expect.poll(async () => (await readMetric("operator_feed_age_seconds", fed)) ?? 0).toBeGreaterThan(0);
    expect(await readMetric("operator_feed_heartbeat_seconds", fed)).toBe(3_600);
    for (const state of ["waiting", "sent"]) {
      expect(await readMetric("operator_queue_transactions", `${sender},state="${state}"`)).toBeGreaterThanOrEqual(0);
    }
    const events = (event: string) => readMetric("operator_queue_events_total", `${sender},event="${event}"`);
    await expect.poll(() => events("mined")).toBeGreaterThanOrEqual(1);
    for (const event of ["replaced", "cancelled", "rebroadcast", "reorged", "lost", "unsigned"]) {
      expect(await events(event)).toBe(0);
    }
    const used = (await readMetric("operator_gas_budget_used_ratio", 'budget="feeds"')) ?? 0;
    expect([used > 0, used < 0.1]).toEqual([true, true]);
    const balance = (await readMetric("operator_sender_balance_ether", sender)) ?? 0;
    expect([balance > 99, balance <= 100]).toEqual([true, true]);
  });

  test("show an endpoint that is not ready, and count RPC calls that failed, by class", async () => {
    const endpoint = 'endpoint="rpcUrls/0"';
    const head = () => readMetric("operator_rpc_endpoint_head_block", endpoint);
    expect(await head()).toBeGreaterThan(0);
    proxy.faults.set("*", "HTTP 500");
    await expect.poll(head).toBe(0);
    proxy.faults.clear();
    await expect.poll(head).toBeGreaterThan(0);
    proxy.faults.set("eth_sendRawTransaction", "HTTP 500");
    expect((await operator.askForProblem(body("SPOTPX/ADA-USD"))).http).toBe(502);
    proxy.faults.clear();
    const failed = `${endpoint},method="eth_sendRawTransaction",class="failed"`;
    expect(await readMetric("operator_rpc_errors_total", failed)).toBeGreaterThanOrEqual(1);
  });
});

test("a request's trace is passed on to the providers and into every log line of the request", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const asked = first.traces.length;
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, "x-request-id": "checkout-4711" };
  const response = await operator.post(body("SPOTPX/XRP-USD"), { ...headers, ...WAIT });
  expect([response.status, response.headers.get("x-request-id")]).toEqual([200, "checkout-4711"]);
  expect(first.traces.slice(asked)).toContainEqual(expect.stringContaining(`00-${traceId}-`));
  const sent = { trace_id: traceId, msg: "update sent", request_id: "checkout-4711" };
  const lines = operator.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ ...sent, key: stringToHex("SPOTPX/XRP-USD") }));
});
