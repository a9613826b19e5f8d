import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_CURL } from "../../../../devnet/test/has-curl.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

const run = promisify(execFile);

/** Opens the program of a name, which closes the one that was open. */
async function openSnippet(read: Locator, name: string): Promise<void> {
  const snippet = read.locator("details").filter({ has: read.page().locator("summary", { hasText: name }) });
  if ((await snippet.getAttribute("open")) === null) await snippet.locator("summary").click();
}

/** The programs that the page shows do what they say, as they stand. */
export function snippetFlows(environment: () => TestEnvironment): void {
  const programs = new Map<string, string>();
  let folder: string;

  beforeAll(async () => {
    const { devnet, browser } = environment();
    folder = mkdtempSync(join(ROOT, "node_modules/.page-programs-"));
    const { page, copied, end } = await visit(browser, devnet.operator.url, {
      at: `/42/${devnet.dataset}/SPOTPX%2FETH-USD`,
    });
    const read = page.getByRole("region", { name: "Read it from code" });
    for (const name of ["Solidity", "cast", "viem", "fresh", "curl"]) {
      await openSnippet(read, name);
      await read.getByRole("button", { name: `Copy the ${name} code`, exact: true }).click();
      programs.set(name, await copied());
      expect(programs.get(name)).toBe(await read.locator("details[open] pre").textContent());
    }
    await end();
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

  test("never hold a key that a shell would run", async () => {
    const { devnet, browser } = environment();
    const key = `WEB/${"ab".repeat(32)}/';touch x;'`;
    const at = `/42/${devnet.webOracle.numbers}/${encodeURIComponent(key)}`;
    const { page, end } = await visit(browser, devnet.operator.url, { at });
    const read = page.getByRole("region", { name: "Read it from code" });
    for (const name of ["Solidity", "cast", "viem", "fresh", "curl"]) {
      await openSnippet(read, name);
      expect(await read.locator("details[open] pre").textContent()).not.toContain("touch");
    }
    await end();
  });
}
