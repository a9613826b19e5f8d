import { updateGatewayAbi } from "@dataset-oracle/protocol/abi/update-gateway";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import { type Address, encodeFunctionData, type Hex, stringToHex } from "viem";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PLUGINS, type PluginName } from "../src/config.js";
import { OTHER_ACCOUNT } from "./support/chain.js";
import { startCommittee, WAIT } from "./support/committee.js";
import { OPERATIONS, operationsOf } from "./support/operations.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import type { StubProvider } from "./support/stub-providers.js";

/** The operator is its core, and the plugins that are configured: none is needed, and none needs another. */

const FEED = "SPOTPX/FEED-USD";

/** New for each test, so that nothing is stored. */
let dataset: Address;

const { chain, providers, members } = await startCommittee(4);

beforeEach(async () => {
  dataset = await chain.deploy(members);
});

async function start(plugins: readonly PluginName[]): Promise<RunningOperator> {
  const feed = { dataset, keys: [FEED], heartbeatSeconds: 3_600, deviationBps: 10_000, minIntervalSeconds: 1 };
  const served = { chain, datasets: [dataset], providers, settings: { feeds: [feed] } };
  const operator = await startOperator([served], { plugins: [...plugins] });
  onTestFinished(() => operator.close());
  return operator;
}

const request = (key: string, broadcast: boolean) => ({ network_id: 42, dataset, key, broadcast });
const get = ({ base }: RunningOperator, path: string) => fetch(`${base}${path}`);
const statusOf = async (operator: RunningOperator, path: string) => (await get(operator, path)).status;

/** Asserts that the core does all of its work. */
async function assertCore(operator: RunningOperator): Promise<void> {
  expect(await operator.ask(request("SPOTPX/UNSENT-USD", false))).toHaveProperty("transaction");
  const sent = await operator.ask(request("SPOTPX/SENT-USD", true), WAIT);
  const { status, updatedAt } = await chain.query(dataset, "SPOTPX/SENT-USD");
  expect([status, Number(updatedAt)]).toEqual(["OK", sent.timestamp]);
  for (const path of ["/datasets", "/live", "/ready"])
    expect([path, await statusOf(operator, path)]).toEqual([path, 200]);
  expect(await operator.registry.metrics()).toContain('operator_network_ready{network="42"} 1');
}

/** Says for each plugin whether its behaviour is there. */
const behaviors: Readonly<Record<PluginName, (operator: RunningOperator) => Promise<boolean>>> = {
  feeds: async () => (await chain.query(dataset, FEED)).status === "OK",
  gateway: async (operator) => {
    const args = [dataset, stringToHex("SPOTPX/LENS-USD")] as const;
    const data = encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args });
    const response = await get(operator, `/gateway/42/${OTHER_ACCOUNT}/${data}`);
    return response.status === 200 && /^0x[0-9a-f]{200,}$/.test(((await response.json()) as { data: Hex }).data);
  },
  page: async (operator) => {
    const query = `?network_id=42&dataset=${dataset}&key=SPOTPX/SENT-USD`;
    const statuses = await Promise.all(["/data", "/history"].map((path) => statusOf(operator, path + query)));
    const overview = await get(operator, "/overview");
    if (overview.status !== 200) return false;
    const { networks } = (await overview.json()) as OverviewAnswer;
    return networks[0]?.datasets[0]?.dataset === dataset && statuses.every((status) => status === 200);
  },
  watchdog: async (operator) => {
    const served = operator.networks.get(42)?.datasets.get(dataset);
    const [liar] = providers as [StubProvider];
    const round = BigInt(Math.floor(Date.now() / 1000) - 2);
    const ask = () =>
      served?.source.gatherReports(
        stringToHex("SPOTPX/LIE-USD"),
        round,
        served.dataset.committee.current,
        null,
        () => {},
      );
    await ask();
    liar.value += 1n;
    liar.decided.clear();
    const answers = (await ask()) ?? [];
    return answers.some(
      (one) => one.kind === "failure" && one.provider === liar.address && one.reason === "contradicted",
    );
  },
};

/** Asserts that an operator does what its plugins do, and nothing that others do. */
async function assertPlugins(operator: RunningOperator, plugins: readonly PluginName[]): Promise<void> {
  await assertCore(operator);
  const document = (await (await get(operator, "/openapi.json")).json()) as Parameters<typeof operationsOf>[0];
  expect(operationsOf(document)).toEqual(
    (["core", ...plugins] as const).flatMap((name) => OPERATIONS[name]).toSorted(),
  );
  const isFeedStored = () => behaviors.feeds(operator);
  if (plugins.includes("feeds")) await expect.poll(isFeedStored).toBe(true);
  for (const name of PLUGINS) expect([name, await behaviors[name](operator)]).toEqual([name, plugins.includes(name)]);
  const metrics = await operator.registry.metrics();
  expect(metrics.includes("operator_feed_age_seconds")).toBe(plugins.includes("feeds"));
}

test("without plugins the operator answers data requests, lists its datasets, and shows its health and metrics", async () => {
  const operator = await start([]);
  await assertPlugins(operator, []);
  for (const path of ["/", "/guide/", "/overview", "/data", "/history"]) {
    expect([path, await statusOf(operator, path)]).toEqual([path, 404]);
  }
});

describe("alone", () => {
  test.each(PLUGINS)("the plugin %s adds its own routes and behaviour, and no other", async (name) => {
    await assertPlugins(await start([name]), [name]);
  });
});

test("with all plugins the operator has everything", async () => {
  await assertPlugins(await start(PLUGINS), PLUGINS);
});
