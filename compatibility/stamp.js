// The stamp says what these tests last passed with: for each subject, which is a test file, a hash of what it checks.
// `npm run compatibility` renews it for the subjects that pass, and `npm run check` fails when something has changed
// since, so that CI need not run them.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "@dataset-oracle/tools/repository-root";

const STAMP = fileURLToPath(new URL("stamp.json", import.meta.url));

const CONTRACTS = ["src/*.sol", "test/examples/*.sol", "foundry.toml"];
const CLIENT = ["protocol/src/*.ts", ":!protocol/src/*.test.ts"];
const EXAMPLES = ["examples", "tools/create-example-project.js", ":!*.md"];

/** What each subject checks, as git's patterns: the test of that name, what all tests share, and these. */
const CHECKED = {
  ccxt: ["provider/sources/*.json", "devnet/src/simulated-market/*.ts", ":!devnet/src/simulated-market/*.test.ts"],
  "client-package": [...CONTRACTS, ...CLIENT],
  "development-chains": [...CONTRACTS, ...CLIENT],
  examples: [...CONTRACTS, ...CLIENT, ...EXAMPLES],
  indexer: [...CONTRACTS, ...CLIENT, ...EXAMPLES],
  "nodejs-versions": [...CONTRACTS, ...CLIENT],
  "old-evm": [],
  openapi: [],
  "sending-returned-transactions": [...CONTRACTS, ...CLIENT],
  "smart-accounts": [...CONTRACTS, ...CLIENT, "operator/page/src/wallet/*.ts", ":!operator/page/src/wallet/*.test.ts"],
  "solc-versions": [...CONTRACTS, ...EXAMPLES],
  "source-verification": CONTRACTS,
  "third-party-consumers": [...CONTRACTS, ...CLIENT],
  "verified-read": [...CONTRACTS, ...CLIENT],
};
const SHARED = ["compatibility", ":!compatibility/*.test.ts", ":!compatibility/main.js", ":!compatibility/stamp.*"];

/** @type {typeof import("./stamp.js").SUBJECTS} */
export const SUBJECTS = Object.keys(CHECKED);

/** @param {string} text */
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/**
 * Hashes the files of a repository as git would store them now: new ones too, unless they are ignored.
 *
 * @type {typeof import("./stamp.js").hashFiles}
 */
export function hashFiles(repository, patterns) {
  /**
   * @param {readonly string[]} args
   * @param {string} [input]
   */
  const git = (args, input) => execFileSync("git", args, { cwd: repository, encoding: "utf8", input });
  const listed = git([
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
    "--",
    ...patterns,
  ]);
  const files = listed.split("\0").filter((file) => file !== "" && existsSync(join(repository, file)));
  if (files.length === 0) throw new Error(`No file is ${patterns.join(" ")}.`);
  const hashes = git(["hash-object", "--stdin-paths"], files.map((file) => `${file}\n`).join(""))
    .trim()
    .split("\n");
  const lines = files.map((file, index) => `${file} ${hashes[index]}`);
  return sha256(lines.toSorted().join("\n"));
}

/**
 * The blocks of code in the documents that import another library than viem, which these tests run.
 *
 * @type {typeof import("./stamp.js").documentedBlocks}
 */
export function documentedBlocks(repository) {
  const documents = execFileSync("git", ["grep", "-l", "^import .* from", "--", "*.md"], {
    cwd: repository,
    encoding: "utf8",
  });
  return documents
    .trim()
    .split("\n")
    .flatMap((file) => [...readFileSync(join(repository, file), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)])
    .map(([, block = ""]) => block)
    .filter((block) => /from "(?!viem|@dataset-oracle|node:)/.test(block));
}

/** Returns the hash of each subject. */
async function currentHashes() {
  // The built services take seconds to load, and the tests of this file need none.
  const { openApiDocuments } = await import("../docs/site/app-for-docs.js");
  /** @type {Record<string, string>} */
  const more = { openapi: JSON.stringify(await openApiDocuments()), examples: documentedBlocks(ROOT).join("\n") };
  return Object.fromEntries(
    Object.entries(CHECKED).map(([subject, patterns]) => {
      const test = hashFiles(ROOT, [`compatibility/${subject}.test.ts`]);
      return [subject, sha256(test + hashFiles(ROOT, [...SHARED, ...patterns]) + (more[subject] ?? ""))];
    }),
  );
}

/**
 * Says what to do if something has changed since the stamp was written, else returns null.
 *
 * @type {typeof import("./stamp.js").complaint}
 */
export function complaint(stamp, current) {
  const changed = Object.keys(current).filter((name) => stamp[name] !== current[name]);
  if (changed.length === 0) return null;
  return (
    `compatibility/stamp.json is not current: what ${changed.join(", ")} check has changed since it last passed with ` +
    `other people's versions. Run \`npm run compatibility -- ${changed.join(" ")}\`, which renews it, and commit it.`
  );
}

const readStamp = () => (existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, "utf8")) : {});

/** @type {typeof import("./stamp.js").renewStamp} */
export async function renewStamp(subjects) {
  const stamp = readStamp();
  const current = await currentHashes();
  const renewed = SUBJECTS.map((subject) => [subject, (subjects.includes(subject) ? current : stamp)[subject]]);
  writeFileSync(STAMP, `${JSON.stringify(Object.fromEntries(renewed), null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const message = complaint(readStamp(), await currentHashes());
  if (message !== null) {
    console.error(message);
    process.exitCode = 1;
  }
}
