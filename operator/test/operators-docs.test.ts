import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metricsInTable } from "@dataset-oracle/devnet/metrics-table";
import { describe, expect, test } from "vitest";
import { loadOperatorConfig, OperatorConfig } from "../src/config.js";
import { USAGE } from "../src/help-text.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const guide = read("docs/Operators.md");
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? "";
const { bin } = JSON.parse(read("operator/package.json"));
const main = `operator/${bin.operator.replace("./", "")}`;

describe("the systemd unit", () => {
  const lines = block("ini")
    .split("\n")
    .filter((line) => line.includes("=") && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const values = (name: string) => lines.flatMap(([key, value]) => (key === name ? [value] : []));

  test("starts the built program, after checking the same configuration", () => {
    const [start] = values("ExecStart");
    expect(start).toBe(`/usr/bin/node /opt/dataset-oracle/${main} --config /etc/dataset-operator/operator.json`);
    expect(values("ExecStartPre")).toEqual([`${start} --check-config`]);
  });

  test("passes a keystore and its password as files, and no secret as a variable", () => {
    const credentials = values("LoadCredential").map((value) => value.split(":")[0]);
    const variables = Object.fromEntries((values("Environment")[0] ?? "").split(" ").map((entry) => entry.split("=")));
    expect(variables).toEqual({
      NODE_ENV: "production",
      OPERATOR_KEYSTORE: `%d/${credentials[0]}`,
      OPERATOR_KEYSTORE_PASSWORD_FILE: `%d/${credentials[1]}`,
    });
    for (const name of ["OPERATOR_KEYSTORE", "OPERATOR_KEYSTORE_PASSWORD_FILE"]) expect(USAGE).toContain(name);
  });
});

test("the metrics that docs/Operators.md names exist", () => {
  const named = [...guide.matchAll(/`(operator_\w+)`/g)].map(([, name]) => name ?? "");
  expect(named.length).toBeGreaterThanOrEqual(2);
  expect([...metricsInTable(read("operator/README.md")).keys()]).toEqual(expect.arrayContaining(named));
});

test("the documents name the default port of the metrics", () => {
  const port = OperatorConfig.properties.metricsPort.default;
  expect(guide).toContain(`Publish port ${port}, the metrics,`);
  expect(read("operator/README.md")).toContain(`:${port}/metrics`);
});

test.each([...new Set([...guide.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name]) => name ?? ""))])(
  "%s, which docs/Operators.md names, is a setting",
  (name) => {
    expect(JSON.stringify(OperatorConfig)).toContain(`"${name}":{`);
  },
);

test("the configuration that docs/Operators.md shows is valid", async () => {
  const folder = mkdtempSync(join(tmpdir(), "operators-docs-"));
  const [{ deployment, feeds }] = JSON.parse(block("json")).networks;
  const financial = { address: feeds[0].dataset, kind: "median", keyForm: "SPOT_PRICE", keys: feeds[0].keys };
  mkdirSync(join(folder, "deployments"));
  writeFileSync(join(folder, deployment), JSON.stringify({ chainId: 11155111, datasets: { financial } }));
  writeFileSync(join(folder, "operator.json"), block("json"));
  const { networks } = await loadOperatorConfig(join(folder, "operator.json"), {
    RPC_URL: "https://rpc.one-company.example",
  });
  expect(networks.map((network) => network.deployment.chainId)).toEqual([11155111]);
});
