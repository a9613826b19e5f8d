import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { publint } from "publint";
import { build } from "vite";
import { beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "packages-"));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The files of each packed package, sorted. */
const packed: Record<string, string[]> = {};

/** Packs both, and unpacks them as npm would install them. */
beforeAll(async () => {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, "-w", "protocol", "-w", "src"];
  for (const { name, filename, files } of JSON.parse((await run("npm", args, { cwd: ROOT })).stdout)) {
    packed[name] = files.map(({ path }: { path: string }) => path).toSorted();
    mkdirSync(join(folder, "node_modules", name), { recursive: true });
    const into = ["-C", join(folder, "node_modules", name), "--strip-components=1"];
    await run("tar", ["-xzf", join(folder, filename), ...into]);
  }
  for (const other of ["viem", "@sinclair"])
    symlinkSync(join(ROOT, "node_modules", other), join(folder, "node_modules", other));
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
    expect((await publint({ pkgDir: join(folder, "node_modules", name), strict: true, pack: false })).messages).toEqual(
      [],
    );
  });
});

describe("the package for TypeScript", () => {
  test("has every module, with its types and source, and no test", () => {
    const modules = readdirSync(join(ROOT, "protocol/src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => path.replaceAll("\\", "/").slice(0, -".ts".length));
    const built = ["dist", "commonjs"].flatMap((folder) =>
      modules.flatMap((path) => [".js", ".js.map", ".d.ts", ".d.ts.map"].map((end) => `${folder}/${path}${end}`)),
    );
    const sources = modules.map((path) => `src/${path}.ts`);
    expect(packed["@dataset-oracle/protocol"]).toEqual(
      ["LICENSE", "README.md", "package.json", "commonjs/package.json", ...built, ...sources].toSorted(),
    );
  });

  test("depends on viem, which the dapp brings, and on what its schemas need", () => {
    const { dependencies, peerDependencies } = JSON.parse(read("protocol/package.json"));
    expect(Object.keys(dependencies)).toEqual(["@sinclair/typebox"]);
    expect(Object.keys(peerDependencies)).toEqual(["viem"]);
  });

  test("weighs at most 26 KB compressed in a browser, without the dapp's viem", async () => {
    const input = join(folder, "browser.mjs");
    writeFileSync(input, 'export * from "@dataset-oracle/protocol";');
    const rollupOptions = { input, external: /^viem/, preserveEntrySignatures: "strict" } as const;
    const built = await build({ root: folder, logLevel: "error", build: { write: false, rollupOptions } });
    if (!("output" in built)) throw new Error("Vite watches.");
    const code = built.output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
    expect(code).toContain("/data/request");
    expect(gzipSync(code).length).toBeLessThanOrEqual(26_000);
  });

  test("is loaded by require as well", async () => {
    const code = 'console.log(require("@dataset-oracle/protocol").spotPriceKey("ETH-USD"))';
    const { stdout } = await run("node", ["--no-experimental-require-module", "--eval", code], { cwd: folder });
    expect(stdout.trim()).toBe("0x53504f5450582f4554482d555344");
  });

  test("has the exports that its README names, with types for a dapp that a bundler builds", async () => {
    const code = 'console.log(JSON.stringify(Object.keys(await import("@dataset-oracle/protocol"))))';
    const { stdout } = await run("node", ["--input-type=module", "--eval", code], { cwd: folder });
    const rows = read("protocol/README.md").match(/^\| `.*$/gm) ?? [];
    const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(10);
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(named));
    // documents.test.ts of devnet compiles programs with NodeNext.
    const program = named.map((name) => `import { ${name} } from "@dataset-oracle/protocol";\nvoid ${name};\n`);
    writeFileSync(join(folder, "exports.ts"), program.join(""));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const options = "--strict --noEmit --target ES2022 --lib ES2023,DOM --types --module ESNext --skipLibCheck".split(
      " ",
    );
    const args = [tsc, ...options, "--moduleResolution", "Bundler", "exports.ts"];
    const compiled = await run("node", args, { cwd: folder }).catch((error) => error);
    expect(compiled.stdout).toBe("");
  });
});

// A project of the starter for Hardhat installs this package and passes its tests in compatibility/.
test("the package for Solidity has what a consumer imports, and only adapters of quotes need another package", () => {
  const files = packed["@dataset-oracle/contracts"] ?? [];
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "Oracle.sol", "README.md", "usingOracleProtocol.sol"]));
  expect(files).toEqual(expect.arrayContaining(["interfaces/IDataset.sol", "mocks/MockOracle.sol"]));
  for (const file of files.filter((file) => file.endsWith(".sol"))) {
    for (const [, imported = ""] of read(`src/${file}`).matchAll(/^import [^"]*"([^"]+)";/gm)) {
      if (file === "adapters/QuoteAdapter.sol" && imported.startsWith("@openzeppelin/contracts/")) continue;
      expect(imported, file).toMatch(/^\./);
      expect(files).toContain(posix.join(posix.dirname(file), imported));
    }
  }
  expect(files.filter((file) => /Dataset\.sol|lens/.test(file))).toEqual(["interfaces/IDataset.sol"]);
  expect(JSON.parse(read("src/package.json"))).not.toHaveProperty("dependencies");
});
