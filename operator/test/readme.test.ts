import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/test-support/metrics-table";
import { expect, test } from "vitest";
import { loadOperatorConfig, OperatorConfig } from "../src/config.js";
import { startOperator } from "./support/operator.js";

const OPERATOR = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(OPERATOR, path), "utf8");
const README = read("README.md");
const GUIDE = read("deploy/README.md");

test("the README lists every metric with its type and labels, and no other; the guide names some of them", async () => {
  const { registry } = await startOperator([]);
  const listed = metricsInTable(README);
  expect(metricsOf(registry)).toEqual(listed);
  const named = [...GUIDE.matchAll(/`(operator_\w+)`/g)].map(([, name]) => name ?? "");
  expect([...listed.keys()]).toEqual(expect.arrayContaining(named));
  expect(README).toContain(`:${OperatorConfig.properties.metricsPort.default}/metrics`);
});

test("every file that the README's way of one request names exists, and it takes at most fifteen steps", () => {
  const [, map = ""] = README.split("## What happens to one request");
  const steps = map.split("\n## ", 1)[0]?.match(/^\d+\. .*$/gm) ?? [];
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(15);
  for (const step of steps) {
    const files = step.match(/`[\w/-]+\.ts`/g) ?? [];
    expect(files, step).not.toEqual([]);
    for (const file of files) expect(existsSync(join(OPERATOR, "src", file.slice(1, -1))), file).toBe(true);
  }
});

test("the settings that the guide names exist, and its example of a configuration is valid", async () => {
  const settings = new Set([...GUIDE.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name]) => `"${name}":{`));
  expect(settings.size).toBeGreaterThan(0);
  for (const setting of settings) expect(JSON.stringify(OperatorConfig)).toContain(setting);
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  const example = JSON.parse(read("deploy/operator.json"));
  const [network] = example.networks;
  const [{ dataset: address, keys }] = network.feeds;
  const financial = { address, kind: "median", keyForm: "SPOT_PRICE", keys };
  writeFileSync(join(folder, "deployment.json"), JSON.stringify({ chainId: 11155111, datasets: { financial } }));
  network.deployment = "deployment.json";
  writeFileSync(join(folder, "operator.json"), JSON.stringify(example));
  const env = { RPC_URL: "https://rpc.one-company.example" };
  const { networks } = await loadOperatorConfig(join(folder, "operator.json"), env);
  expect(networks.map(({ chainId }) => chainId)).toEqual([11155111]);
});
