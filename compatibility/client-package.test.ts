import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { blocksIn, isRun } from "../devnet/test/code-blocks.js";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "../devnet/test/devnet-process.js";
import { launchBrowser } from "../operator/page/test/support/launch-browser.js";
import { hasBrowser } from "../operator/page/test/support/skip-without-browser.js";
import { linkPackages } from "./linked-packages.js";
import { NODES } from "./nodes.js";

// The packed client in projects of the kinds that dapps have, each outside the repository.

const execute = promisify(execFile);
const MODULES = join(import.meta.dirname, "node_modules");
const bin = (name: string) => join(MODULES, ".bin", name);

/** The oldest of the peer range, and the newest that the repository has tried, by where they are installed. */
const VIEMS = { "viem 2.21.0": join(MODULES, "viem-2.21.0"), "the newest viem": join(ROOT, "node_modules/viem") };
type Viem = keyof typeof VIEMS;
const NEWEST: Viem = "the newest viem";

const folder = mkdtempSync(join(tmpdir(), "client-"));
const packed = join(folder, "packed");
let devnet: Devnet;

/** Creates a project that has installed the client and a version of viem. */
function createProject(viem: Viem, files: Readonly<Record<string, string>> = {}): string {
  const cwd = mkdtempSync(join(folder, "project-"));
  linkPackages(cwd, VIEMS[viem]);
  cpSync(join(packed, "package"), join(cwd, "node_modules/@dataset-oracle/protocol"), { recursive: true });
  writeFileSync(join(cwd, "package.json"), "{}");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return cwd;
}

async function run(cwd: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd, env: { ...process.env, NODE_ENV: undefined, ...env }, timeout: 200_000 };
  const { stdout } = await execute(file, args, options).catch(({ stdout, stderr }) => {
    throw new Error(stdout + stderr);
  });
  return stdout;
}

/** A module that reads and updates in every way that no wallet is needed for. @param transport Options of viem's. */
const everyRead = (transport = "") => `
  import { readVerified, requestUpdate, simulateQuery, spotPriceKey } from "@dataset-oracle/protocol";
  import { createPublicClient, http } from "viem";
  export async function main() {
    const data = { dataset: "${devnet.dataset}", key: "SPOTPX/ETH-USD" };
    const update = await requestUpdate({ url: "${devnet.operator.url}", networkId: 42, ...data, broadcast: true, wait: 20 });
    const client = createPublicClient({ transport: http("${devnet.chain}"${transport}) });
    const read = await readVerified(client, { lens: "${devnet.lens}", ...data, maxAge: 20 });
    const { status } = await simulateQuery(client, { ...data, key: spotPriceKey("ETH-USD") });
    return [update.status, read.status, status, typeof read.value, update.transactionHash].join(" ");
  }`;
const EVERY_READ = /^OK OK OK bigint 0x[0-9a-f]{64}$/m;
const PRINT = 'import { main } from "./main.mjs"; main().then(console.log);';

beforeAll(async () => {
  mkdirSync(packed);
  await execute("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], {
    cwd: join(ROOT, "protocol"),
  });
  await execute("sh", ["-c", "tar -xzf *.tgz"], { cwd: packed });
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
});
afterAll(async () => {
  await devnet?.interrupt();
});

describe.each(Object.keys(VIEMS) as Viem[])("with %s", (viem) => {
  test.each(NODES)("%s requires the same as it imports, without the means to require an ES module", async (node) => {
    const cwd = createProject(viem, {
      "same.cjs": `const assert = require("node:assert");
        for (const name of ["@dataset-oracle/protocol", "@dataset-oracle/protocol/report"])
          import(name).then((imported) => assert.deepEqual(Object.keys(require(name)).sort(), Object.keys(imported)));`,
    });
    await run(cwd, node, ["--no-experimental-require-module", "same.cjs"]);
  });

  test("TypeScript finds its types in every way, and the documents' programs run as CommonJS", async () => {
    const documents = ["docs/Dapps.md", "protocol/README.md"];
    const blocks = blocksIn("ts").filter((block) => documents.includes(block.document) && isRun(block));
    const programs = blocks.filter(({ text }) => !text.includes('from "ethers"'));
    expect(programs.length).toBeGreaterThan(5);
    const cwd = createProject(viem);
    for (const { name, text } of programs) {
      // CommonJS cannot wait at its top level.
      const [imports = "", body = ""] = withPortsOf(devnet, text).split(/(?<=from "[^"]*";\n)(?!import )/);
      const deep = 'export type { Outcome } from "@dataset-oracle/protocol/report";\n';
      // viem 2.21.0 keeps a process alive for the three minutes for which it would have waited for a receipt.
      const exit = "declare const process: { exit(): never };\n";
      const program = `${imports}${deep}${exit}void (async () => {${body}})().then(process.exit);`;
      writeFileSync(join(cwd, `${name}.ts`), program);
    }
    const tsc = [join(MODULES, "typescript/bin/tsc"), ..."--strict --target ES2022 --types --skipLibCheck".split(" ")];
    const files = programs.map(({ name }) => `${name}.ts`);
    for (const [module, resolution] of [
      ["esnext", "bundler"],
      // As CommonJS, node16 refuses the newest viem itself.
      viem === NEWEST ? ["nodenext", "nodenext"] : ["node16", "node16"],
      ["commonjs", "node10"],
    ] as const) {
      const options = ["--lib", "ES2023,DOM", "--module", module, "--moduleResolution", resolution];
      await run(cwd, process.execPath, [...tsc, ...options, ...files]);
    }
    for (const { name } of programs) expect(await run(cwd, process.execPath, [`${name}.js`]), name).toMatch(/\d/);
  });
});

describe("the tests of a project", () => {
  const body =
    'expect(require("@dataset-oracle/protocol").spotPriceKey("ETH-USD")).toBe("0x53504f5450582f4554482d555344")';

  test.each(["jest-29", "jest"])("run in %s as it is installed", async (jest) => {
    const cwd = createProject(NEWEST, { "client.test.js": `test("the client", () => ${body});` });
    await run(cwd, process.execPath, [join(MODULES, jest, "bin/jest.js")]);
  });

  test("run in Hardhat 2 with TypeScript", async () => {
    const compilerOptions = { module: "commonjs", moduleResolution: "node10", strict: true, esModuleInterop: true };
    const cwd = createProject(NEWEST, {
      "hardhat.config.ts": 'export default { solidity: "0.8.28" };',
      "tsconfig.json": JSON.stringify({
        compilerOptions: { ...compilerOptions, target: "es2020", skipLibCheck: true },
      }),
      "test/client.ts": `import { strictEqual } from "node:assert";
        import { spotPriceKey } from "@dataset-oracle/protocol";
        declare const it: (name: string, body: () => void) => void;
        it("the client", () => strictEqual(spotPriceKey("ETH-USD"), "0x53504f5450582f4554482d555344"));`,
    });
    const hardhat = createRequire(join(import.meta.dirname, "hardhat-2/package.json")).resolve("hardhat/package.json");
    rmSync(join(cwd, "node_modules/hardhat"));
    symlinkSync(dirname(hardhat), join(cwd, "node_modules/hardhat"));
    const cli = join(dirname(hardhat), "internal/cli/bootstrap.js");
    // The project's TypeScript is one that Hardhat 2 knows.
    const env = { TS_NODE_COMPILER: join(MODULES, "typescript") };
    expect(await run(cwd, process.execPath, [cli, "test", "--typecheck", "--no-compile"], env)).toContain("1 passing");
  });
});

describe("a page", () => {
  test("is built by Vite, and reads and updates", async () => {
    const cwd = createProject(NEWEST, { "main.mjs": everyRead(), "page.mjs": PRINT });
    await bundle(cwd, "page.mjs");
    expect(await run(cwd, process.execPath, ["page.js"])).toMatch(EVERY_READ);
  });

  test("is built by webpack, and reads and updates", async () => {
    const cwd = createProject(NEWEST, { "main.mjs": everyRead(), "page.mjs": PRINT });
    const output = { path: cwd, filename: "page.js", asyncChunks: false };
    const performance = { hints: false };
    const config = { mode: "production", target: "web", entry: "./page.mjs", output, performance, context: cwd };
    const build = `require("webpack")(${JSON.stringify(config)}, (error, stats) => {
      if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString());
    })`;
    await run(cwd, process.execPath, ["--eval", build]);
    expect(await run(cwd, process.execPath, ["page.js"])).toMatch(EVERY_READ);
  });
});

/** Builds a file of a project with Vite into one, for browsers. */
async function bundle(cwd: string, entry: string): Promise<void> {
  const lib = { entry, formats: ["es"], fileName: () => "page" };
  const rollupOptions = { output: { inlineDynamicImports: true, entryFileNames: "page.js" } };
  const build = `import { build } from "${join(ROOT, "node_modules/vite/dist/node/index.js")}";
    await build(${JSON.stringify({ root: cwd, logLevel: "warn", build: { lib, rollupOptions, outDir: ".", emptyOutDir: false } })});`;
  await run(cwd, process.execPath, ["--input-type=module", "--eval", build]);
}

describe("in another runtime", () => {
  test.each([
    ["Bun", bin("bun"), ["run"]],
    ["Deno", bin("deno"), ["run", "--allow-all", "--node-modules-dir=manual"]],
  ])("%s reads and updates", async (_, program, args) => {
    const cwd = createProject(NEWEST, { "main.mjs": everyRead(), "page.mjs": PRINT });
    expect(await run(cwd, program, [...args, "page.mjs"], { DENO_NO_UPDATE_CHECK: "1" })).toMatch(EVERY_READ);
  });

  test.runIf(hasBrowser())("a service worker of Chromium reads and updates", async () => {
    const cwd = createProject(NEWEST, {
      "main.mjs": everyRead(),
      "page.mjs": `import { main } from "./main.mjs";
        addEventListener("message", (event) => event.waitUntil(main().catch(String).then((said) => event.source.postMessage(said))));`,
    });
    await bundle(cwd, "page.mjs");
    const server = createServer(({ url }, response) => {
      response.setHeader("content-type", url === "/page.js" ? "text/javascript" : "text/html");
      response.end(url === "/page.js" ? readFileSync(join(cwd, "page.js")) : "<!doctype html>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await launchBrowser();
    onTestFinished(async () => {
      await browser.close();
      server.close();
    });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const said = await page.evaluate(async () => {
      await navigator.serviceWorker.register("/page.js");
      const { active } = await navigator.serviceWorker.ready;
      const answer = new Promise<string>((resolve) => {
        navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
      });
      active?.postMessage("go");
      return answer;
    });
    expect(said).toMatch(EVERY_READ);
  });

  // Workers of before 2024-11-11 refuse the field `cache`.
  test.each(["2024-01-01", "2026-11-01"])("Cloudflare's workerd of %s reads and updates", async (date) => {
    const cwd = createProject(NEWEST, {
      "main.mjs": everyRead(),
      "page.mjs": 'import { main } from "./main.mjs"; export default { test: async () => console.log(await main()) };',
      "config.capnp": `using Workerd = import "/workerd/workerd.capnp";
        const config :Workerd.Config = (services = [
          (name = "main", worker = (modules = [(name = "page", esModule = embed "page.js")], compatibilityDate = "${date}")),
          (name = "internet", network = (allow = ["public", "private"])),
        ]);`,
    });
    await bundle(cwd, "page.mjs");
    expect(await run(cwd, bin("workerd"), ["test", "config.capnp"])).toMatch(EVERY_READ);
  });

  test("a page of Next.js 14, whose fetch stores what it has fetched, gets new values", async () => {
    const cwd = createProject(NEWEST, {
      "app/main.mjs": everyRead(', { fetchOptions: { cache: "no-store" } }'),
      "app/layout.js": "export default ({ children }) => <html><body>{children}</body></html>;",
      "app/page.js": 'import { main } from "./main.mjs"; export default async () => <p>{await main()}</p>;',
    });
    const next = join(MODULES, "next/dist/bin/next");
    const env = { NEXT_TELEMETRY_DISABLED: "1" };
    await run(cwd, process.execPath, [next, "build"], env);
    const port = await freePort();
    const server = execFile(process.execPath, [next, "start", "--port", String(port)], {
      cwd,
      env: { ...process.env, ...env },
    });
    onTestFinished(() => void server.kill());
    const load = async () => {
      const response = await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(20_000) });
      const text = await response.text();
      return /OK OK OK bigint 0x[0-9a-f]{64}/.exec(text)?.[0];
    };
    await expect.poll(() => load().catch(() => undefined)).toBeDefined();
    const first = await load();
    await expect.poll(load).not.toBe(first);
  });
});
