import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_CURL } from "../../../../devnet/test/has-curl.js";
import { snippets } from "../../src/snippets/snippets.js";
import type { TestEnvironment } from "../support/visit.js";

const run = promisify(execFile);

/** The programs that the page shows do what they say, as they stand. */
export function snippetFlows(environment: () => TestEnvironment): void {
  const programs = new Map<string, string>();
  let folder: string;

  beforeAll(async () => {
    const { devnet } = environment();
    folder = mkdtempSync(join(ROOT, "node_modules/.page-programs-"));
    const { networks } = (await (await fetch(`${devnet.operator.url}/overview`)).json()) as OverviewAnswer;
    const [network] = networks;
    const dataset = network?.datasets.find((one) => one.dataset === devnet.dataset);
    if (network === undefined || dataset === undefined) throw new Error("The operator does not show the dataset.");
    const format = dataset.points?.[0]?.format ?? null;
    const about = { operator: devnet.operator.url, networkId: 42, dataset, lens: network.verified_lens, format };
    for (const { name, text } of snippets("SPOTPX/ETH-USD", about)) programs.set(name, text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("in Solidity compiles", async () => {
    const source = join(ROOT, "test", `PageProgram-${process.pid}.sol`);
    writeFileSync(source, (programs.get("Solidity") ?? "").replace("@dataset-oracle/contracts/", "../src/"));
    try {
      const to = ["--out", join(folder, "out"), "--cache-path", join(folder, "cache")];
      await run(foundryBinary("forge"), ["build", source, ...to], { cwd: ROOT, env: foundryEnv() });
    } finally {
      rmSync(source);
    }
  });

  const READ = /^OK \d+(\.\d+)? \d{4}-\d\d-\d\dT/;
  test.each([
    ["cast", "bash", /^\d{19,} \[.*\n\d{10} .*\n1\n$/],
    ["viem", "node", READ],
    ["fresh", "node", READ],
    ...(HAS_CURL ? [["curl", "bash", /"key":"SPOTPX\/ETH-USD".*"status":"OK"/] as const] : []),
  ] as const)("for %s, run by %s, gets the value", async (name, by, said) => {
    const program = join(folder, `${name}.mjs`);
    writeFileSync(program, programs.get(name) ?? "");
    const PATH = `${dirname(foundryBinary("cast"))}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH, ETH_RPC_URL: environment().devnet.chain };
    expect((await run(by, [program], { env })).stdout).toMatch(said);
  });
}
