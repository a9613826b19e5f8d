import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { beforeEach, expect, test } from "vitest";
import { complaint, documentedBlocks, hashFiles, SUBJECTS } from "../../compatibility/stamp.js";

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

test("every test with other people's programs has a line", () => {
  const files = readdirSync(join(ROOT, "compatibility")).filter((file) => file.endsWith(".test.ts"));
  expect(files.map((file) => file.slice(0, -".test.ts".length)).toSorted()).toEqual(SUBJECTS.toSorted());
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
  const stamp = { ccxt: "1", indexer: "2" };
  expect(complaint(stamp, { ...stamp })).toBeNull();
  expect(complaint(stamp, { ...stamp, indexer: "3" })).toMatch(
    /not current: what indexer check has changed .*`npm run compatibility -- indexer`/,
  );
  expect(complaint({}, stamp)).toContain("-- ccxt indexer`");
});
