import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "../devnet/test/devnet-process.js";
import { linkPackages } from "./linked-packages.js";
import { NEWER, withNode } from "./nodes.js";
import { documentedBlocks } from "./stamp.js";

const execute = promisify(execFile);
const project = (name: string) => join(folder, name);

/** What each of the JavaScript examples prints. */
const PRINTED = [
  /^Requested: \d+(\.\d+)?, by transaction 0x[0-9a-f]{64}\.$/m,
  /^Read paid: \d+(\.\d+)?\.\nRead verified: \d+(\.\d+)?\.\nWritten fresh: \d+(\.\d+)?\.$/m,
];

/** The folder for the projects, outside the repository. */
const folder = mkdtempSync(join(tmpdir(), "examples-"));
let devnet: Devnet;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
}, 130_000);

afterAll(async () => {
  await devnet?.interrupt();
});

describe("the starter for Hardhat", () => {
  const cwd = project("hardhat");
  const options = { cwd, env: withNode(NEWER), timeout: 100_000 };

  test("is created and passes its tests with the packages that npm would install", async () => {
    await execute("node", [join(ROOT, "tools/create-example-project.js"), "hardhat", cwd, "--copy"]);
    linkPackages(cwd);
    for (const name of ["contracts", "protocol"]) {
      const into = join(cwd, "node_modules/@dataset-oracle", name);
      mkdirSync(into, { recursive: true });
      const [tarball = ""] = readdirSync(cwd).filter((file) => file.startsWith(`dataset-oracle-${name}-`));
      await execute("tar", ["-xzf", join(cwd, tarball), "-C", into, "--strip-components=1"]);
    }
    const { stdout } = await execute("npm", ["test"], options);
    expect(stdout).toContain("4 passing");
  });

  test("sells the same tickets as the one for Foundry, and names the versions that are installed here", () => {
    const shop = (path: string) => readFileSync(join(ROOT, "examples", path, "Shop.sol"), "utf8");
    expect(shop("hardhat/contracts")).toBe(shop("foundry/src"));
    const versionsIn = (path: string) => JSON.parse(readFileSync(path, "utf8"));
    const { dependencies } = versionsIn(join(import.meta.dirname, "package.json"));
    for (const [name, version] of Object.entries(versionsIn(join(cwd, "package.json")).devDependencies)) {
      if (name in dependencies) expect(`${name} ${dependencies[name]}`).toBe(`${name} ${version}`);
    }
  });

  test("buys a ticket on the devnet with an update of this moment", async () => {
    for (const file of ["hardhat.config.ts", "scripts/buy.ts"]) {
      writeFileSync(join(cwd, file), withPortsOf(devnet, readFileSync(join(cwd, file), "utf8")));
    }
    const { stdout } = await execute("npm", ["run", "buy"], options);
    expect(stdout).toMatch(/^0x[0-9a-f]{64}: success, 1 ticket$/m);
  });
});

describe("in a project that has installed their packages", () => {
  const cwd = project("javascript");
  const run = (program: string) => {
    const env = { ...process.env, RPC_URL: devnet.chain, OPERATOR_URL: devnet.operator.url };
    return execute("node", [program], { cwd, env, timeout: 60_000 });
  };

  beforeAll(() => {
    cpSync(join(ROOT, "examples/javascript"), cwd, { recursive: true });
    linkPackages(cwd);
    symlinkSync(join(ROOT, "node_modules/@dataset-oracle"), join(cwd, "node_modules/@dataset-oracle"));
  });

  test.each(["ethers.js", "web3.js"])("%s reads and updates in every way", async (program) => {
    const { stdout, stderr } = await run(program);
    expect(stderr).toBe("");
    for (const lines of PRINTED) expect(stdout).toMatch(lines);
  });

  test("the documents' programs with other libraries compile, and print a value", async () => {
    const programs = documentedBlocks(ROOT).map((text, index) => ({ name: `program${index}`, text }));
    expect(programs).not.toHaveLength(0);
    for (const { name, text } of programs) writeFileSync(join(cwd, `${name}.ts`), withPortsOf(devnet, text));
    const options = "--strict --target ES2022 --lib ES2023,DOM --types --module NodeNext --skipLibCheck".split(" ");
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const files = programs.map(({ name }) => `${name}.ts`);
    const compiled = await execute("node", [tsc, ...options, ...files], { cwd }).catch((error) => error);
    expect(compiled.stdout).toBe("");
    for (const { name } of programs) expect((await run(`${name}.js`)).stdout).toMatch(/: \d+(\.\d+)?\.$/m);
  });
});
