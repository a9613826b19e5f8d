import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { publint } from "publint";
import { beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "packages-"));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The files of each packed package, sorted. */
const packed: Record<string, string[]> = {};

/** Packs a workspace and unpacks it into `node_modules`, as npm would install it. */
async function install(workspace: string): Promise<void> {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, join(ROOT, workspace)];
  const [{ name, filename, files }] = JSON.parse((await run("npm", args)).stdout);
  packed[workspace] = files.map(({ path }: { path: string }) => path).toSorted();
  const into = join(folder, "node_modules", name);
  mkdirSync(into, { recursive: true });
  await run("tar", ["-xzf", join(folder, filename), "-C", into, "--strip-components=1"]);
}

/** The blocks of a language in a Markdown file. */
const blocks = (path: string, language: string) =>
  [...read(path).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [text] : [],
  );

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

beforeAll(async () => {
  await install("protocol");
  await install("src");
  for (const name of ["viem", "@sinclair"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
});

describe.each([
  ["protocol", "@dataset-oracle/protocol"],
  ["src", "@dataset-oracle/contracts"],
])("the package of %s/", (workspace, name) => {
  test("is ready to be published under its name, with the licence", async () => {
    const manifest = JSON.parse(read(`${workspace}/package.json`));
    expect(manifest).toMatchObject({ name, version: JSON.parse(read("package.json")).version, license: "MIT" });
    expect(manifest).not.toHaveProperty("private");
    expect(read(`${workspace}/LICENSE`)).toBe(read("LICENSE"));
    expect((await publint({ pkgDir: join(ROOT, workspace), strict: true })).messages).toEqual([]);
  });
});

describe("the package for TypeScript", () => {
  test("has every module, with its types and source, and no test", () => {
    const modules = readdirSync(join(ROOT, "protocol/src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => path.replaceAll("\\", "/").slice(0, -".ts".length));
    const built = modules.flatMap((path) =>
      [".js", ".js.map", ".d.ts", ".d.ts.map"].map((end) => `dist/${path}${end}`),
    );
    const sources = modules.map((path) => `src/${path}.ts`);
    expect(packed.protocol).toEqual(["LICENSE", "README.md", "package.json", ...built, ...sources].toSorted());
  });

  test("depends on viem, which the dapp brings, and on what its schemas need", () => {
    const { dependencies, peerDependencies, devDependencies } = JSON.parse(read("protocol/package.json"));
    expect(Object.keys(dependencies)).toEqual(["@sinclair/typebox"]);
    expect(peerDependencies).toEqual({ viem: `^${devDependencies.viem}` });
  });

  test("has the exports that its README names", async () => {
    const code = 'console.log(JSON.stringify(Object.keys(await import("@dataset-oracle/protocol"))))';
    const { stdout } = await run("node", ["--input-type=module", "--eval", code], { cwd: folder });
    const rows = read("protocol/README.md")
      .split("\n")
      .filter((line) => /^\| `/.test(line));
    const named = rows.flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ""),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(named));
    const types = named.map((name) => `import { ${name} } from "@dataset-oracle/protocol";\nvoid ${name};\n`);
    write("exports.ts", types.join(""));
  });

  test.each(["NodeNext", "Bundler"])(
    "compiles in a dapp with the DOM, without Node's types, resolved as %s",
    async (resolution) => {
      const examples = blocks("protocol/README.md", "ts");
      expect(examples).toHaveLength(2);
      examples.forEach((text, i) => {
        write(`example${i}.ts`, text ?? "");
      });
      write("package.json", JSON.stringify({ type: "module" }));
      write(
        "tsconfig.json",
        JSON.stringify({
          compilerOptions: {
            strict: true,
            noEmit: true,
            target: "ES2022",
            lib: ["ES2023", "DOM"],
            types: [],
            module: resolution === "Bundler" ? "ESNext" : resolution,
            moduleResolution: resolution,
            skipLibCheck: true,
          },
          include: ["*.ts"],
        }),
      );
      const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
      const { stdout } = await run("node", [tsc, "-p", folder]).catch((error) => error);
      expect(stdout).toBe("");
    },
    60_000,
  );
});

describe("the package for Solidity", () => {
  const consumer = blocks("src/README.md", "solidity")[0] ?? "";
  const mocked = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {IDataset} from "@dataset-oracle/contracts/interfaces/IDataset.sol";
import {IWebOracleRegistry} from "@dataset-oracle/contracts/interfaces/IWebOracleRegistry.sol";
import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";
`;

  const tested = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";
import {Test} from "forge-std/Test.sol";

contract PriceTest is Test {
    function test_price() public {
        MockOracle oracle = new MockOracle();
        oracle.setSpotPrice("ETH-USD", 3000e18);
        (bytes32 output,,) = oracle.query("SPOTPX/ETH-USD");
        assertEq(uint256(output), 3000e18);
    }
}
`;

  /** A Foundry project of somebody else, with its own settings. */
  async function build(project: string, remappings: string[]) {
    write(`${project}/foundry.toml`, `[profile.default]\nremappings = ${JSON.stringify(remappings)}\n`);
    write(`${project}/src/Lender.sol`, consumer);
    write(`${project}/test/Mocked.sol`, mocked);
    const root = join(folder, project);
    await run(foundryBinary("forge"), ["build", "--root", root], { env: foundryEnv() });
    return JSON.parse(readFileSync(join(root, "out/Lender.sol/Lender.json"), "utf8"));
  }

  test("has what a consumer imports, and nothing that needs another package", () => {
    expect(packed.src).toEqual([
      "LICENSE",
      "Oracle.sol",
      "README.md",
      "interfaces/ICommitteeDirectory.sol",
      "interfaces/IDataset.sol",
      "interfaces/IUpdateGateway.sol",
      "interfaces/IWebOracleRegistry.sol",
      "libraries/UpdateCalldata.sol",
      "mocks/MockOracle.sol",
      "package.json",
      "types/KeyForm.sol",
      "usingOracleProtocol.sol",
    ]);
    const { dependencies, peerDependencies } = JSON.parse(read("src/package.json"));
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  });

  test("is imported from npm with one remapping", async () => {
    const path = "node_modules/@dataset-oracle/contracts";
    cpSync(join(folder, path), join(folder, "by-npm", path), { recursive: true });
    const remapping = `@dataset-oracle/contracts/=${path}/`;
    expect(read("src/README.md")).toContain(`the remapping \`${remapping}\``);
    const { bytecode } = await build("by-npm", [remapping]);
    expect(bytecode.object).toMatch(/^0x[0-9a-f]{50,}$/);
  }, 120_000);

  test("is tested by Foundry in a project that has forge-std besides, as the README says", async () => {
    expect(read("src/README.md")).toContain("`forge install foundry-rs/forge-std`");
    mkdirSync(join(folder, "by-npm/lib"));
    symlinkSync(join(ROOT, "lib/forge-std"), join(folder, "by-npm/lib/forge-std"));
    write("by-npm/test/Price.t.sol", tested);
    const root = join(folder, "by-npm");
    const { stdout } = await run(foundryBinary("forge"), ["test", "--root", root], { env: foundryEnv() });
    expect(stdout).toContain("[PASS] test_price()");
  }, 240_000);

  test("is imported by the same paths from the repository under lib/, where forge install puts it", async () => {
    for (const path of ["src", "foundry.toml"]) {
      cpSync(join(ROOT, path), join(folder, "by-forge/lib/dataset-oracle", path), { recursive: true });
    }
    const { bytecode } = await build("by-forge", []);
    expect(bytecode.object).toMatch(/^0x[0-9a-f]{50,}$/);
  }, 120_000);
});
