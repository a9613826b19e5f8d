import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { folderOf } from "@dataset-oracle/tools/install-development-chains";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf } from "../../devnet/test/code-blocks.js";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "../../devnet/test/devnet-process.js";
import { HAS_CURL } from "../../devnet/test/has-curl.js";

const execute = promisify(execFile);
const BLOCKS = blocksOf("examples/README.md").map(({ text }) => text);
const HARDHAT = join(folderOf("hardhat-3"), "node_modules");

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

function rewrite(path: string): void {
  writeFileSync(path, withPortsOf(devnet, readFileSync(path, "utf8")));
}

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

/** CI installs Hardhat; on a developer's machine `npm run dev-chains` does. */
describe.runIf(existsSync(join(HARDHAT, "@nomicfoundation/hardhat-viem")))("the starter for Hardhat", () => {
  const env = () => withPrograms(join(HARDHAT, "node", "bin"));

  test("is created and passes its tests with the packages that npm would install", async () => {
    const target = project("hardhat");
    await execute("node", [join(ROOT, "tools/create-example-project.js"), "hardhat", target, "--copy"]);
    const modules = join(target, "node_modules");
    mkdirSync(modules);
    for (const name of readdirSync(HARDHAT)) symlinkSync(join(HARDHAT, name), join(modules, name));
    for (const name of ["contracts", "protocol"]) {
      const into = join(modules, "@dataset-oracle", name);
      mkdirSync(into, { recursive: true });
      const [tarball = ""] = readdirSync(target).filter((file) => file.startsWith(`dataset-oracle-${name}-`));
      await execute("tar", ["-xzf", join(target, tarball), "-C", into, "--strip-components=1"]);
    }
    const { stdout } = await execute("npm", ["test"], { cwd: target, env: env(), timeout: 100_000 });
    expect(stdout).toContain("3 passing");
  });

  test("buys a ticket on the devnet with an update of this moment", async () => {
    for (const file of ["hardhat.config.ts", "scripts/buy.ts"]) rewrite(join(project("hardhat"), file));
    expect(await shell("npm run buy", "hardhat", env())).toMatch(/^0x[0-9a-f]{64}: success, 1 ticket$/m);
  });
});

describe("the JavaScript examples", () => {
  test("have the devnet's addresses", async () => {
    const { DATASET, CONSUMER, LENS } = await import(join(ROOT, "examples/javascript/devnet-addresses.js"));
    const { dataset, consumer, lens } = devnet;
    expect({ DATASET, CONSUMER, LENS }).toEqual({ DATASET: dataset, CONSUMER: consumer, LENS: lens });
  });

  const commands =
    BLOCKS.find((text) => text.includes("viem.js"))
      ?.trim()
      .split("\n") ?? [];

  test.each(commands)("%s", async (command) => {
    const env = { ...process.env, RPC_URL: devnet.chain, OPERATOR_URL: devnet.operator.url };
    const { stdout, stderr } = await execute("bash", ["-c", command], { cwd: ROOT, env, timeout: 60_000 });
    expect(stderr).toBe("");
    const number = "\\d+(\\.\\d+)?";
    expect(stdout).toMatch(
      new RegExp(
        `^Requested: ${number}, by transaction 0x[0-9a-f]{64}\\.\nRead paid: ${number}\\.\nRead verified: ${number}\\.\nWritten fresh: ${number}\\.\n$`,
      ),
    );
  });

  test("are all run", () => {
    expect(commands).toEqual(["viem", "ethers", "web3"].map((name) => `node examples/javascript/${name}.js`));
  });
});
