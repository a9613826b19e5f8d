import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metricsInTable } from "@dataset-oracle/devnet/metrics-table";
import { expect, test } from "vitest";
import { loadOperatorConfig, OperatorConfig } from "../src/config.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("operator/deploy/README.md");
const example = read("operator/deploy/operator.json");

test("the metrics that the guide names exist", () => {
  const named = [...guide.matchAll(/`(operator_\w+)`/g)].map(([, name]) => name ?? "");
  expect(named.length).toBeGreaterThanOrEqual(1);
  expect([...metricsInTable(read("operator/README.md")).keys()]).toEqual(expect.arrayContaining(named));
});

test("the README names the default port of the metrics", () => {
  const port = OperatorConfig.properties.metricsPort.default;
  expect(read("operator/README.md")).toContain(`:${port}/metrics`);
});

test.each([...new Set([...guide.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name]) => name ?? ""))])(
  "%s, which the guide names, is a setting",
  (name) => {
    expect(JSON.stringify(OperatorConfig)).toContain(`"${name}":{`);
  },
);

test("the example of a configuration is valid", async () => {
  const folder = mkdtempSync(join(tmpdir(), "operators-docs-"));
  const [{ deployment, feeds }] = JSON.parse(example).networks;
  const financial = { address: feeds[0].dataset, kind: "median", keyForm: "SPOT_PRICE", keys: feeds[0].keys };
  mkdirSync(join(folder, "deployments"));
  writeFileSync(join(folder, deployment), JSON.stringify({ chainId: 11155111, datasets: { financial } }));
  writeFileSync(join(folder, "operator.json"), example);
  const { networks } = await loadOperatorConfig(join(folder, "operator.json"), {
    RPC_URL: "https://rpc.one-company.example",
  });
  expect(networks.map((network) => network.chainId)).toEqual([11155111]);
});
