import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf } from "./code-blocks.js";
import { type Devnet, freePortOptions, startDevnet, withPortsOf } from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { outputPattern } from "./output-pattern.js";

const run = promisify(execFile);

/** The documents whose commands are run here, one after the other, as a reader would. */
const DOCUMENTS = ["docs/Cookbook.md"];
const README = "README.md";

/** Documents whose blocks other tests run, or compare with the files that they show. */
const ELSEWHERE = [
  // dapp-documents.test.ts
  ...["docs/Relaying.md", "docs/Dapps.md", "docs/Solidity.md", "protocol/README.md"],
  // tools/test/mock-oracle-docs.test.ts
  "docs/Adapters.md",
  // web-oracle.test.ts
  "docs/WebOracle.md",
  // examples/test/examples.test.ts
  "examples/README.md",
  // tools/test/packages.test.ts
  "src/README.md",
];

const RUNNABLE = ["bash", "js", "sh", "solidity", "ts"];

let devnet: Devnet;
let ports: string[];

beforeAll(async () => {
  ports = [...(await freePortOptions()), "--no-feeds"];
  devnet = await startDevnet(ports);
}, 190_000);

afterAll(() => devnet?.interrupt());

/** Returns a text with the ports of this devnet, also that of the market. */
const here = (text: string) =>
  withPortsOf(devnet, text).replaceAll(
    "http://127.0.0.1:8600",
    `http://127.0.0.1:${ports[ports.indexOf("--market-port") + 1]}`,
  );

describe(README, () => {
  const blocks = blocksOf(README);

  /** The one block in this language that holds a text. */
  function block(language: string, holds: string): string {
    const found = blocks.filter((one) => one.language === language && one.text.includes(holds));
    expect(found).toHaveLength(1);
    return found[0]?.text ?? "";
  }

  test("the dataset's address is the devnet's", () => {
    const named = new Set(readFileSync(join(ROOT, README), "utf8").match(/0x5[0-9a-fA-F]{39}\b/g));
    expect([...named]).toEqual([devnet.dataset]);
  });

  test.runIf(HAS_CURL)("the curl works as it stands", async () => {
    const { stdout } = await run("sh", ["-c", here(block("sh", "curl"))], { timeout: 30_000 });
    expect(JSON.parse(stdout)).toMatchObject({ network_id: 42, key: "SPOTPX/ETH-USD", status: "OK" });
  });

  test("the Solidity shown is that of the package, which is compiled", () => {
    const shown = blocksOf("src/README.md").find(({ language }) => language === "solidity");
    expect(block("solidity", "contract")).toBe(shown?.text);
  });
});

describe.each(DOCUMENTS)("%s", (file) => {
  const blocks = blocksOf(file);
  const commands = blocks.flatMap((block, i) =>
    block.language === "sh" && !block.note.startsWith("not run: ") ? [{ ...block, printed: blocks[i + 1] }] : [],
  );

  test.runIf(HAS_CURL).each(commands.map((block) => [block.text.split("\n")[0]?.slice(0, 60), block] as const))(
    "%s",
    async (_, { text, printed }) => {
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", here(text)], { cwd: ROOT, timeout: 60_000 });
      if (printed?.note === "prints") expect(stdout.replace(/\s+/g, "")).toMatch(outputPattern(printed.text));
      else expect(stdout).not.toContain('"code":');
    },
  );

  test("there are commands to run, and each block that is not run gives a reason", () => {
    expect(commands.length).toBeGreaterThan(0);
    for (const { note } of blocks) expect(note).toMatch(/^$|^prints$|^not run: .{15,}/);
  });
});

test("a document with runnable blocks is run by some test, or gives a reason for each block", () => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], { cwd: ROOT });
  const runnable = String(listed)
    .trim()
    .split("\n")
    .filter((file) => existsSync(join(ROOT, file)))
    .filter((file) =>
      blocksOf(file).some(({ language, note }) => RUNNABLE.includes(language) && !note.startsWith("not run: ")),
    );
  expect(runnable.toSorted()).toEqual([README, ...DOCUMENTS, ...ELSEWHERE].toSorted());
});
