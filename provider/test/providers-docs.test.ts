import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { expect, test } from "vitest";
import { writeConfig } from "./support/provider-process.js";
import { runCommand } from "./support/run-command.js";
import { PRIVATE_KEY } from "./support/test-provider.js";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), "utf8");
const SOURCE = /<!-- sources\/example\.json -->\n```json\n([\s\S]*?)```/.exec(read("provider/README.md"))?.[1] ?? "";

test("the example of a configuration is valid", async () => {
  const { folder, config } = writeConfig({}, 11155111, ["SPOTPX/ETH-USD"]);
  const deployment = JSON.parse(readFileSync(join(folder, "deployment.json"), "utf8"));
  const address = `0x${"1".repeat(40)}`;
  deployment.datasets.webOracleNumber = { address, kind: "median", keyForm: "WEB_ORACLE", keys: [] };
  writeFileSync(join(folder, "deployment.json"), JSON.stringify({ ...deployment, webOracleRegistry: address }));
  const example = read("provider/deploy/provider.json")
    .replace("deployments/11155111.json", "deployment.json")
    .replaceAll("/var/lib/dataset-provider", folder);
  writeFileSync(config, example);
  const env = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY, RPC_URL: "https://rpc.example" };
  const { code, stdout, stderr } = await runCommand(["check", "--config", config], env);
  expect([code, stderr, stdout]).toEqual([0, "", expect.stringContaining("(datasets: 2, keys: 1)")]);
});

test("the source file can be added, and its pair is then read and served", async () => {
  const api = await startLocalServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(request.url === "/ticker/ETH-CHF" ? '{"last": "2001.5"}' : "{}");
  });
  const settings = {
    sources: ["example.json"],
    minSources: 1,
    redirectedOrigins: { "https://api.example.com": api.url },
  };
  const key = "SPOTPX/ETH-CHF";
  const { folder, config } = writeConfig(settings, 42, [key]);
  writeFileSync(join(folder, "example.json"), SOURCE);
  const fetched = await runCommand(["try", key, "--json", "--config", config]);
  const checked = await runCommand(["check", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
  api.close();
  expect(JSON.parse(fetched.stdout)).toMatchObject({ price: "2001.5", sources: [{ name: "example", used: true }] });
  expect(checked.stdout).toContain("(datasets: 1, keys: 1)");
});
