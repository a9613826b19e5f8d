import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { complaint, documentedBlocks, hashFiles } from "../../compatibility/stamp.js";

let repository: string;
const write = (path: string, text: string) => writeFileSync(join(repository, path), text);
const git = (...args: string[]) => execFileSync("git", args, { cwd: repository });
const hash = () => hashFiles(repository, ["src", ":!*.md"]);

beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), "stamp-"));
  git("init", "--quiet");
  mkdirSync(join(repository, "src"));
  write(".gitattributes", "* text=auto\n");
  write(".gitignore", "*.log\n");
  write("src/Oracle.sol", "interface Oracle {}\n");
  write("src/removed.sol", "");
  git("add", ".");
});

describe("the hash of what is checked", () => {
  test.each<[string, () => void]>([
    ["a changed file", () => write("src/Oracle.sol", "interface Other {}\n")],
    ["a new file that git does not know yet", () => write("src/Other.sol", "")],
    ["a removed file", () => rmSync(join(repository, "src/removed.sol"))],
  ])("changes with %s", (_, change) => {
    const before = hash();
    change();
    expect(hash()).not.toBe(before);
  });

  test.each<[string, () => void]>([
    ["a file elsewhere", () => write("other.sol", "")],
    ["what is left out", () => write("src/README.md", "")],
    ["what git ignores", () => write("src/a.log", "")],
    ["other line ends", () => write("src/Oracle.sol", "interface Oracle {}\r\n")],
    ["staging", () => git("rm", "--quiet", "--cached", "src/Oracle.sol")],
  ])("stays with %s", (_, change) => {
    const before = hash();
    change();
    expect(hash()).toBe(before);
  });
});

test("programs of documents are checked that import other libraries than viem", () => {
  const program = (library: string) => `import { a } from "${library}";\n`;
  const block = (library: string) => `\`\`\`ts\n${program(library)}\`\`\`\n`;
  write("Guide.md", ["viem", "@dataset-oracle/protocol", "ethers", "node:fs"].map(block).join("\n"));
  git("add", ".");
  expect(documentedBlocks(repository)).toEqual([program("ethers")]);
});

test("a stamp is current until one of its hashes differs, and the complaint names the command", () => {
  const stamp = { contracts: "1", client: "2" };
  expect(complaint(stamp, { ...stamp })).toBeNull();
  expect(complaint(stamp, { ...stamp, client: "3" })).toMatch(
    /not current: client changed since .*`npm run compatibility`/,
  );
  expect(complaint({}, stamp)).toContain("contracts, client");
});
