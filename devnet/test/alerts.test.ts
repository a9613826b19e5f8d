import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createPublicClient, createTestClient, http, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RpcProxy, startRpcProxy } from "../../operator/test/support/rpc-proxy.js";
import { type Devnet, freePortOptions, startDevnet } from "./devnet-process.js";
import { PROMETHEUS } from "./installed-programs.js";

/** How many times shorter the durations in the rules are here. */
const FASTER = 20;
/** An alert fires, and resolves, after a minute or so. */
const PATIENCE = { timeout: 240_000, interval: 500 };
const HEARTBEAT_SECONDS = 30;
const BALANCE = parseEther("100");

/** Returns the rules with all durations shortened, so that nobody waits ten minutes for each. */
function fasterRules(): string {
  const shorten = (text: string) =>
    text.replace(/\b(\d+)([mh])\b/g, (_, count: string, unit: string) => {
      return `${(Number(count) * (unit === "h" ? 3_600 : 60)) / FASTER}s`;
    });
  return readFileSync(join(ROOT, "operator/deploy/alerts.yml"), "utf8")
    .replace(/\[[\dmh:]+\]|offset \d+m/g, shorten)
    .replace(/^ +for: .*$/gm, shorten);
}

// It takes about six minutes, so it is left to `npm run alerts`.
const runs = process.env.MODE === "long" && PROMETHEUS.isThere;

describe.runIf(runs)("alerts of an operator that Prometheus scrapes", { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  const account = generatePrivateKey();
  const sender = privateKeyToAccount(account).address;
  const closers: (() => Promise<unknown>)[] = [];
  const restarted: ChildProcess[] = [];
  let devnet: Devnet;
  let proxy: RpcProxy;
  let operator: ServiceProcess;
  let operatorConfig: { readonly port: number };
  let prometheusUrl: string;

  const chain = () => createTestClient({ mode: "anvil", transport: http(devnet.chain) });
  const startOperator = async () => {
    const options = { program: "operator", name: "watched", config: operatorConfig, privateKeys: [account] } as const;
    operator = await startService({ ...options, folder });
    await operator.ready();
  };

  beforeAll(async () => {
    const ports = await freePortOptions();
    devnet = await startDevnet([...ports, "--no-feeds"]);
    await chain().setBalance({ address: sender, value: BALANCE });
    proxy = await startRpcProxy(devnet.chain);
    const [port, metricsPort, prometheusPort] = [await freePort(), await freePort(), await freePort()];
    const feed = { dataset: devnet.dataset, keys: ["SPOTPX/ETH-USD"], heartbeatSeconds: HEARTBEAT_SECONDS };
    const network = {
      deployment: join(ROOT, ".devnet", ports[1] ?? "", "deployments", "42.json"),
      rpcUrls: [devnet.chain, proxy.url],
      providers: devnet.providers.map(({ address, url }) => ({ address, url })),
      feeds: [{ ...feed, deviationBps: 1, minIntervalSeconds: 2 }],
      ...{ feedPollMs: 500, rpcPollMs: 500, stuckSeconds: 5, gasPerHourForFeeds: 1_000_000_000 },
      allowLocalProviders: true,
    };
    operatorConfig = { port, ...{ metricsPort, networks: [network] } };
    await startOperator();
    closers.push(() => operator.close());

    writeFileSync(join(folder, "alerts.yml"), fasterRules());
    const scraped = { job_name: "dataset-operator", static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] };
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: ["alerts.yml"],
      scrape_configs: [scraped],
    };
    // JSON is YAML.
    writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
    prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
    const prometheus = await startProcess({
      name: "prometheus",
      command: "prometheus",
      args: [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${prometheusPort}`,
      ],
      logFile: join(folder, "prometheus.log"),
      isReady: () => respondsOk(`${prometheusUrl}/-/ready`),
    });
    closers.push(() => prometheus.close());
    await prometheus.ready();
  }, 300_000);

  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
    for (const child of restarted) child.kill();
    await devnet?.interrupt();
  });

  async function alerts() {
    const answer = await fetch(`${prometheusUrl}/api/v1/alerts`);
    const { data } = (await answer.json()) as {
      data: {
        alerts: {
          state: string;
          labels: { alertname: string; severity: string };
          annotations: { summary: string };
        }[];
      };
    };
    return data.alerts.filter(({ state }) => state === "firing");
  }

  const firing = async () => [...new Set((await alerts()).map(({ labels }) => labels.alertname))].toSorted();

  /** The name and the summary of each alert that wakes somebody up. */
  const pages = async () =>
    (await alerts()).flatMap(({ labels, annotations }) =>
      labels.severity === "page" ? [`${labels.alertname}: ${annotations.summary}`] : [],
    );

  /** Waits until the feed is so old that an alert would say so. */
  async function untilFeedIsOld(): Promise<void> {
    const query = encodeURIComponent(`operator_feed_age_seconds > ${2 * HEARTBEAT_SECONDS}`);
    const old = async () => (await fetch(`${prometheusUrl}/api/v1/query?query=${query}`)).text();
    await expect.poll(old, PATIENCE).toContain("SPOTPX/ETH-USD");
  }

  /** Waits until all of these fire. Other alerts may fire as well, if the same fault causes them. */
  const fire = (...names: string[]) => expect.poll(firing, PATIENCE).toEqual(expect.arrayContaining(names));

  // Each begins and ends with a healthy operator.
  afterEach(() => expect.poll(firing, PATIENCE).toEqual([]));

  test("none fires while everything works", async () => {
    const query = encodeURIComponent("operator_feed_age_seconds < operator_feed_heartbeat_seconds");
    const storedFeeds = async () => {
      const answer = await fetch(`${prometheusUrl}/api/v1/query?query=${query}`);
      return ((await answer.json()) as { data: { result: object[] } }).data.result.length;
    };
    await expect.poll(storedFeeds, PATIENCE).toBe(1);
  });

  test("a killed provider", async () => {
    const provider = devnet.providers[3];
    if (provider === undefined) throw new Error("The devnet has fewer than four providers.");
    process.kill(provider.pid, "SIGKILL");
    await fire("QuorumAtRisk");
    expect(await pages()).toEqual([expect.stringContaining(provider.address)]);
    restarted.push(spawn("sh", ["-c", `exec env ${provider.command}`], { cwd: ROOT, stdio: "ignore" }));
  });

  test("a stopped endpoint", async () => {
    proxy.faults.set("*", "drops");
    await fire("EndpointFailing");
    proxy.faults.clear();
  });

  test("an endpoint that does not follow the chain", async () => {
    const method = "eth_getBlockByNumber";
    const client = createPublicClient({ transport: http(devnet.chain) });
    const result = await client.request({ method, params: ["latest", false] });
    proxy.answers.set(method, { body: { result } });
    await fire("EndpointBehind");
    proxy.answers.clear();
  });

  test("a drained sender, whose feed becomes stale", async () => {
    await chain().setBalance({ address: sender, value: 1n });
    await fire("SenderLowOnEther");
    await untilFeedIsOld();
    expect(await pages()).toEqual([expect.stringContaining(sender)]);
    await chain().setBalance({ address: sender, value: 10n * BALANCE });
  });

  test("a committee without a quorum, whose feed becomes stale", async () => {
    // They are stopped, not ended: their requests hang.
    const stopped = devnet.providers.slice(0, 2);
    for (const { pid } of stopped) process.kill(pid, "SIGSTOP");
    try {
      await fire("QuorumLost");
      await untilFeedIsOld();
      const [page, ...others] = await pages();
      for (const { address } of stopped) expect(page).toContain(address);
      expect(others).toEqual([]);
    } finally {
      for (const { pid } of stopped) process.kill(pid, "SIGCONT");
    }
  });

  test("a chain that mines nothing, whose feed becomes stale", async () => {
    await chain().setIntervalMining({ interval: 0 });
    await fire("TransactionsStuck");
    await untilFeedIsOld();
    expect(await pages()).toEqual([expect.stringContaining(sender)]);
    await chain().setIntervalMining({ interval: 1 });
  });

  test("a killed operator", async () => {
    process.kill(operator.pid, "SIGKILL");
    await fire("OperatorDown");
    await startOperator();
  });
});
