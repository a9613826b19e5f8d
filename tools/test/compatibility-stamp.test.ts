import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
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

test.each<[does: "changes" | "stays", with_: string, change: () => void]>([
  ["changes", "a changed file", () => write("src/Oracle.sol", "interface Other {}\n")],
  ["changes", "a new file that git does not know yet", () => write("src/Other.sol", "")],
  ["changes", "a removed file", () => rmSync(join(repository, "src/removed.sol"))],
  ["stays", "a file elsewhere", () => write("other.sol", "")],
  ["stays", "what is left out", () => write("src/README.md", "")],
  ["stays", "what git ignores", () => write("src/a.log", "")],
  ["stays", "other line ends", () => write("src/Oracle.sol", "interface Oracle {}\r\n")],
  ["stays", "staging", () => git("rm", "--quiet", "--cached", "src/Oracle.sol")],
])("the hash of what is checked %s with %s", (does, _, change) => {
  const before = hash();
  change();
  expect(hash() === before).toBe(does === "stays");
});

test("there is no hash of no file", () => {
  expect(() => hashFiles(repository, ["src/*.md"])).toThrow("No file is src/*.md.");
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
