import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePorts, HAS_CURL, post, startDevnet } from "./devnet.js";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const run = promisify(execFile);

let devnet: Devnet;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePorts()), "--no-feeds"]);
}, 130_000);

afterAll(() => devnet?.interrupt());

/** The one block of the README in this language that holds a text. */
function block(language: string, holds: string): string {
  const blocks = [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(
    ([, name, text]) => name === language && text?.includes(holds),
  );
  expect(blocks).toHaveLength(1);
  return blocks[0]?.[2] ?? "";
}

/** The README speaks of the default ports; the tests use free ones. */
const here = (text: string) =>
  text.replaceAll("http://127.0.0.1:8080", devnet.operator.url).replaceAll("http://127.0.0.1:8545", devnet.chain);

test("the dataset's address is the devnet's", () => {
  const named = new Set(README.match(/0x5[0-9a-fA-F]{39}\b/g));
  expect([...named]).toEqual([devnet.dataset]);
});

test.runIf(HAS_CURL)("the curl works as it stands", async () => {
  const { stdout } = await run("sh", ["-c", here(block("sh", "curl"))], { timeout: 30_000 });
  expect(JSON.parse(stdout)).toMatchObject({ network_id: 42, key: "SPOTPX/ETH-USD", status: "OK" });
});

test("the cast command works, and prints the price", async () => {
  const { stdout } = await run("sh", ["-c", here(block("sh", "npx cast call"))], { cwd: ROOT });
  expect(stdout.split(" ")[0]?.trim()).toBe(devnet.queryPrice);
});

test("the viem program works", async () => {
  await post(devnet, { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true });
  const { stdout } = await run("node", ["--input-type=module", "--eval", here(block("js", "viem"))], { cwd: ROOT });
  expect(stdout).toContain(`A query costs ${devnet.queryPrice} wei.`);
  expect(stdout).toMatch(/^\d+(\.\d+)? US dollars, updated at \d{10}, status OK\.$/m);
});

test("the Solidity shown is the example that is tested and deployed", () => {
  expect(block("solidity", "SpotPriceConsumer")).toBe(
    readFileSync(join(ROOT, "test/examples/SpotPriceConsumer.sol"), "utf8"),
  );
});
