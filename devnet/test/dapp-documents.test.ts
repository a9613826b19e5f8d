import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { QUERY_STATUSES, verifiedLensAbi } from "@dataset-oracle/protocol";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Abi, toFunctionSelector } from "viem";
import { formatAbiItem } from "viem/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf } from "./code-blocks.js";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { postDataRequest } from "./post-data-request.js";

const run = promisify(execFile);
const GUIDE = readFileSync(join(ROOT, "docs/Dapps.md"), "utf8");
const BLOCKS = blocksOf("docs/Dapps.md");
const blocks = (language: string) => BLOCKS.filter((block) => block.language === language);

/** The programs of the guide, then those of other documents. Those with other libraries are tested in compatibility/. */
const PROGRAMS = ["docs/Dapps.md", "protocol/README.md", "docs/Relaying.md"]
  .flatMap(blocksOf)
  .flatMap(({ language, text }) => (language === "ts" && !text.includes('from "ethers"') ? [text] : []));

/** A dapp's folder. */
const folder = mkdtempSync(join(tmpdir(), "dapp-"));
let devnet: Devnet;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true };
  expect((await postDataRequest(devnet, request)).status).toBe(200);
}, 190_000);

afterAll(async () => {
  await devnet?.interrupt();
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

test("the guide has the blocks that are run here", () => {
  expect(BLOCKS.map(({ language }) => language).toSorted()).toEqual([
    ...Array<string>(6).fill("sh"),
    ...Array<string>(2).fill("solidity"),
    ...Array<string>(8).fill("ts"),
  ]);
  expect(GUIDE.match(/^```/gm)).toHaveLength(2 * BLOCKS.length);
});

test("the guide's addresses are the devnet's", () => {
  expect(new Set(GUIDE.match(/0x5[0-9a-fA-F]{39}\b/g))).toEqual(new Set([devnet.dataset, devnet.lens]));
});

test("the contract passes its test in a Foundry project that installed this repository", async () => {
  for (const path of ["src", "foundry.toml"]) {
    cpSync(join(ROOT, path), join(folder, "lib/dataset-oracle", path), { recursive: true });
  }
  rmSync(join(folder, "lib/forge-std"), { force: true });
  symlinkSync(join(ROOT, "lib/forge-std"), join(folder, "lib/forge-std"));
  const quiet = [...GUIDE.matchAll(/`(ignored_\w+ = \[[^`]+\])`/g)].map(([, line]) => line);
  write("foundry.toml", ["[profile.default]", ...quiet, ""].join("\n"));
  for (const { note: path, text } of blocks("solidity")) write(path, text);
  const build = await run(foundryBinary("forge"), ["build", "--root", folder], { env: foundryEnv() });
  expect(build.stdout + build.stderr).not.toContain("Warning");
  const { stdout } = await run(foundryBinary("forge"), ["test", "--root", folder, "--json"], { env: foundryEnv() });
  const suites: Record<string, { test_results: Record<string, { status: string }> }> = JSON.parse(stdout);
  const results = Object.values(suites).flatMap((suite) => Object.values(suite.test_results));
  expect(results.map(({ status }) => status)).toEqual(Array(6).fill("Success"));
}, 120_000);

/** The rows of the guide's table with these columns. */
const rowsOf = (pattern: RegExp) => [...GUIDE.matchAll(pattern)].map(([, ...cells]) => cells);

test("the statuses have the contract's numbers", () => {
  const rows = rowsOf(/^\| `([A-Z_]+)` \| (\d) \| /gm).map(([status, number]) => [Number(number), status]);
  expect(new Map(rows as [number, string][])).toEqual(new Map(QUERY_STATUSES.entries()));
});

test("the errors of the helpers and the lens, and their selectors, are those of the compiled contracts", () => {
  const errorsIn = (abi: Abi) =>
    abi.filter((item) => item.type === "error").map((item) => formatAbiItem(item, { includeName: true }));
  const errorsOf = (file: string, name: string) =>
    errorsIn(JSON.parse(readFileSync(join(folder, `out/${file}.sol/${name}.json`), "utf8")).abi);
  const listed = rowsOf(/^\| `(\w+\([^`]*\))` \| `(0x[0-9a-f]{8})` \| /gm);
  const names = listed.map(([error]) => error);
  const helpers = [...errorsOf("usingOracleProtocol", "OracleProtocol"), ...errorsIn(verifiedLensAbi)];
  expect(names).toEqual(expect.arrayContaining(helpers));
  expect([...helpers, ...errorsOf("IDataset", "IDataset")]).toEqual(expect.arrayContaining(names));
  for (const [error, selector] of listed) expect(toFunctionSelector(`function ${error}`)).toBe(selector);
});

describe("the shell", () => {
  /** Runs a block as it stands. */
  async function shell(containing: string): Promise<string> {
    const found = blocks("sh").filter(({ text }) => text.includes(containing));
    expect(found).toHaveLength(1);
    const { stdout } = await run("bash", ["-eu", "-c", withPortsOf(devnet, found[0]?.text ?? "")], { cwd: ROOT });
    return stdout;
  }

  test("prints the price", async () => {
    expect(
      (await shell('npx cast call 0x5FbDB2315678afecb367f032d93F642f64180aa3 "queryPrice()(uint256)" --rpc-url http'))
        .split(" ")[0]
        ?.trim(),
    ).toBe(devnet.queryPrice);
  });

  test("shows where it is before a first transaction", async () => {
    const [chainId, price, balance] = (await shell("npx cast chain-id")).split("\n");
    expect([chainId, price?.split(" ")[0]]).toEqual(["42", devnet.queryPrice]);
    expect(Number(balance)).toBeGreaterThan(1);
  });

  test.runIf(HAS_CURL)("requests an update of the value", async () => {
    expect(JSON.parse(await shell("curl -X POST"))).toMatchObject({ key: "SPOTPX/ETH-USD", status: "OK" });
  });

  test.runIf(HAS_CURL)("fetches an update from the gateway and proves it", async () => {
    const [value, updatedAt, status] = (await shell("prove(")).trim().split("\n");
    expect(value).toMatch(/^\d{19,} \[/);
    expect(Date.now() / 1000 - Number(updatedAt?.split(" ")[0])).toBeLessThan(15);
    expect(status).toBe("1");
  });

  test.runIf(HAS_CURL)("lists the updates of a key", async () => {
    const { updates } = JSON.parse(await shell("/history"));
    expect(updates[0]).toMatchObject({ status: "OK", transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  });

  test("reads the value from an account without Ether", async () => {
    const [value, updatedAt, status] = (await shell("READER")).trim().split("\n");
    expect(value).toMatch(/^\d{19,} \[/);
    expect(Number(updatedAt?.split(" ")[0])).toBeGreaterThan(1_700_000_000);
    expect(status).toBe("1");
  });
});

describe("a program", () => {
  beforeAll(async () => {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    write("package.json", JSON.stringify({ type: "module" }));
    PROGRAMS.forEach((text, i) => {
      write(`program${i}.ts`, withPortsOf(devnet, text));
    });
    const options = "--strict --target ES2022 --lib ES2023,DOM --types --module NodeNext --skipLibCheck".split(" ");
    const programs = PROGRAMS.map((_, i) => `program${i}.ts`);
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = await run("node", [tsc, ...options, ...programs], { cwd: folder }).catch((error) => error);
    expect(stdout).toBe("");
  });

  /** Runs the one program that contains a text. */
  async function program(containing: string) {
    const found = PROGRAMS.flatMap((text, i) => (text.includes(containing) ? [i] : []));
    expect(found).toHaveLength(1);
    return run("node", [join(folder, `program${found[0]}.js`)]);
  }

  test("that reads prints the price and the value", async () => {
    const { stdout } = await program("A query costs");
    expect(stdout).toContain(`A query costs ${devnet.queryPrice} wei.`);
    expect(stdout).toMatch(/^ETH-USD was \d+(\.\d+)? at \d{10}\.$/m);
  });

  test.each([
    ["viem", 'functionName: "read"', /^ETH-USD is \d+(\.\d+)?, signed at \d{10}\.$/m],
    ["the client", "await readVerified(", /^OK: \d+(\.\d+)?\.$/m],
  ])("that reads by %s prints a verified value", async (_, containing, printed) => {
    expect((await program(containing)).stdout).toMatch(printed);
  });

  test("that asks the operator prints its progress and the transaction", async () => {
    const { stdout, stderr } = await program("onProgress: ");
    expect(stderr).toBe("");
    expect(stdout).toContain("1 of 4 reports are in.");
    expect(stdout).toMatch(/^\d+(\.\d+)?, by transaction 0x[0-9a-f]{64}\.$/m);
  });

  test("of the client's README prints the price, and the transaction that stores a fresh one", async () => {
    expect((await program("1 ETH is")).stdout).toMatch(/^1 ETH is \d+(\.\d+)? USD, updated at \d{10}\.$/m);
    const { stdout, stderr } = await program("Stored by");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Stored by 0x[0-9a-f]{64}: \d+(\.\d+)? USD\.$/m);
    expect(PROGRAMS).toHaveLength(10);
  });

  test("that verifies the reports of an answer prints what each provider signed", async () => {
    const { stdout } = await program("did not sign this report");
    expect(stdout.trim().split("\n").length).toBeGreaterThanOrEqual(3);
    expect(stdout).toMatch(/^(0x[0-9a-fA-F]{40} signed \d+(\.\d+)?\.\n)+$/);
  });

  test("that submits reports without an operator says how many", async () => {
    const { stdout, stderr } = await program("Submitted ");
    expect(stderr).toBe("");
    expect(stdout).toBe("Submitted 4 of 4 reports: success.\n");
  });

  test("that stores and reads in one transaction prints its hash", async () => {
    expect((await program("writeContractWithUpdate(")).stdout).toMatch(
      /^Stored and read by transaction 0x[0-9a-f]{64}\.$/m,
    );
  });

  test("that sends the transaction itself prints its receipt", async () => {
    const { stdout } = await program("sendUpdate(");
    expect(stdout).toMatch(/^0x[0-9a-f]{64}: success$/m);
  });
});
