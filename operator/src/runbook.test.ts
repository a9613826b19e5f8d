import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadOperatorConfig, OperatorConfig } from "./config.js";

const SOURCE = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("\n");
const RUNBOOK = readFileSync(join(import.meta.dirname, "..", "..", "docs", "Operators.md"), "utf8");

/** The texts in backticks in the first column of its tables. */
const quoted = RUNBOOK.split("\n").flatMap((line) => {
  const cell = line.match(/^\| (.*?) \|/)?.[1] ?? "";
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");
});

test.each(quoted.filter((text) => text.includes(" ")))('the operator says "%s"', (text) => {
  // The number of a network is only known when it is said.
  expect(SOURCE).toContain(text.replace(/ N$/, " "));
});

test("the runbook quotes the log", () => {
  expect(quoted.length).toBeGreaterThan(8);
});

const named = [...RUNBOOK.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name]) => name ?? "");

test.each([...new Set(named)])("%s, which the runbook names, is a setting", (name) => {
  expect(JSON.stringify(OperatorConfig)).toContain(`"${name}":{`);
});

test("the runbook has what can happen to an operator", () => {
  const headings = RUNBOOK.split("\n").filter((line) => line.startsWith("## "));
  expect(headings).toEqual(
    expect.arrayContaining([
      "## Stuck transactions",
      "## Rotating a sender",
      "## Rotating a provider",
      "## An RPC that lies, or is behind",
      "## Running out of funds",
      "## Upgrading nodes one by one",
    ]),
  );
});

test("the configuration that it shows is a valid one", () => {
  const folder = mkdtempSync(join(tmpdir(), "runbook-"));
  const shown = /```json\n([\s\S]*?)```/.exec(RUNBOOK)?.[1] ?? "";
  const [{ deployment, feeds }] = JSON.parse(shown).networks;
  const financial = { address: feeds[0].dataset, kind: "median", keyForm: "SPOT_PRICE", keys: feeds[0].keys };
  mkdirSync(join(folder, "deployments"));
  writeFileSync(join(folder, deployment), JSON.stringify({ chainId: 11155111, datasets: { financial } }));
  writeFileSync(join(folder, "operator.json"), shown);
  const { networks } = loadOperatorConfig(join(folder, "operator.json"), {
    RPC_URL: "https://rpc.one-company.example",
  });
  expect(networks.map((network) => network.deployment.chainId)).toEqual([11155111]);
  rmSync(folder, { recursive: true });
});
