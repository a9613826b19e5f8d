import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf } from "../../devnet/test/code-blocks.js";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "../../devnet/test/devnet-process.js";
import { HAS_CURL } from "../../devnet/test/has-curl.js";
import { PRINTED } from "./printed.js";

// Those that need Hardhat, ethers or web3.js are tested in compatibility/.

const execute = promisify(execFile);
const BLOCKS = blocksOf("examples/README.md").map(({ text }) => text);

/** The folder for the generated projects, outside the repository. */
const folder = mkdtempSync(join(tmpdir(), "examples-"));
const project = (starter: string) => join(folder, starter);
let devnet: Devnet;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
}, 130_000);

afterAll(async () => {
  await devnet?.interrupt();
});

/** Runs the one block of the README that holds a text, as a reader would. */
async function shell(holds: string, starter: string, env: NodeJS.ProcessEnv): Promise<string> {
  const found = BLOCKS.filter((text) => text.includes(holds));
  expect(found).toHaveLength(1);
  const command = withPortsOf(devnet, found[0] ?? "").replaceAll("../my-dapp", project(starter));
  const { stdout } = await execute("bash", ["-eu", "-c", command], { cwd: ROOT, env, timeout: 100_000 });
  return stdout;
}

/** The environment in which the programs of a folder come first. */
const withPrograms = (programs: string, env = process.env) => ({
  ...env,
  PATH: [programs, process.env.PATH].join(delimiter),
});

test("the README has only the blocks that these tests know", () => {
  expect(BLOCKS).toHaveLength(5);
});

test("the starters sell the same tickets", () => {
  const [foundry, hardhat] = ["foundry/src", "hardhat/contracts"].map((path) =>
    readFileSync(join(ROOT, "examples", path, "Shop.sol"), "utf8"),
  );
  expect(hardhat).toBe(foundry);
});

describe("the starter for Foundry", () => {
  const env = () => withPrograms(dirname(foundryBinary("forge")), foundryEnv());

  test("one command creates it and runs its tests", async () => {
    expect(await shell("npm run example -- foundry", "foundry", env())).toContain("5 tests passed, 0 failed");
  });

  test("has its compiler's output ignored by git, and compiles without warnings", async () => {
    const cwd = project("foundry");
    await execute("git", ["init", "--quiet"], { cwd });
    const { stdout } = await execute("git", ["status", "--short"], { cwd });
    expect(stdout.match(/\S+$/gm)).toEqual([".gitignore", "foundry.toml", "lib/", "script/", "src/", "test/"]);
    const build = await execute("forge", ["build", "--force"], { cwd, env: env() });
    expect(build.stdout + build.stderr).not.toContain("Warning");
  });

  test.runIf(HAS_CURL)("buys a ticket on the devnet with an update of this moment", async () => {
    const stdout = await shell("forge script", "foundry", env());
    expect(stdout).toMatch(/A ticket costs, in wei: \d{16}/);
    expect(stdout).toContain("ONCHAIN EXECUTION COMPLETE & SUCCESSFUL");
  });
});

describe("the JavaScript examples", () => {
  test("have the devnet's addresses", async () => {
    const { DATASET, CONSUMER, LENS } = await import(join(ROOT, "examples/javascript/devnet-addresses.js"));
    const { dataset, consumer, lens } = devnet;
    expect({ DATASET, CONSUMER, LENS }).toEqual({ DATASET: dataset, CONSUMER: consumer, LENS: lens });
  });

  test("viem.js reads and updates in every way", async () => {
    const env = { ...process.env, RPC_URL: devnet.chain, OPERATOR_URL: devnet.operator.url };
    const { stdout, stderr } = await execute("node", ["examples/javascript/viem.js"], {
      cwd: ROOT,
      env,
      timeout: 60_000,
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(PRINTED);
  });
});
