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
import type { TestEnvironment } from "../support/test-environment.js";

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

  const shell = async (name: string): Promise<string> => {
    const PATH = `${dirname(foundryBinary("cast"))}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH, ETH_RPC_URL: environment().devnet.chain };
    return (await run("bash", ["-eu", "-c", programs.get(name) ?? ""], { env })).stdout;
  };

  test("in Solidity compile", async () => {
    const program = programs.get("Solidity") ?? "";
    expect(program).toContain(environment().devnet.dataset);
    const source = join(ROOT, "test", `PageProgram-${process.pid}.sol`);
    writeFileSync(source, program.replace("@dataset-oracle/contracts/", "../src/"));
    try {
      const to = ["--out", join(folder, "out"), "--cache-path", join(folder, "cache")];
      await run(foundryBinary("forge"), ["build", source, ...to], { cwd: ROOT, env: foundryEnv() });
    } finally {
      rmSync(source);
    }
  });

  test("for cast read the value", async () => {
    const [value, updatedAt, status] = (await shell("cast")).trim().split("\n");
    expect(value).toMatch(/^\d{19,} \[/);
    expect(Number(updatedAt?.split(" ")[0])).toBeGreaterThan(1_700_000_000);
    expect(status).toBe("1");
  });

  test.each(["viem", "fresh"])("for viem read the value (%s)", async (name) => {
    const program = join(folder, `${name}.mjs`);
    writeFileSync(program, programs.get(name) ?? "");
    const { stdout } = await run("node", [program], {
      env: { ...process.env, ETH_RPC_URL: environment().devnet.chain },
    });
    expect(stdout).toMatch(/^OK \d+(\.\d+)? \d{4}-\d\d-\d\dT/);
  });

  test.runIf(HAS_CURL)("for curl request an update", async () => {
    expect(JSON.parse(await shell("curl"))).toMatchObject({ key: "SPOTPX/ETH-USD", status: "OK" });
  });
}
