// The stamp says what these tests last passed with: a hash of each thing that they check. `npm run compatibility` renews
// it once all of them pass, and `npm run check` fails when something has changed since, so that CI need not run them.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "@dataset-oracle/tools/repository-root";

const STAMP = fileURLToPath(new URL("stamp.json", import.meta.url));

/** The paths of what is checked, as git's patterns, by the name that the stamp has for it. */
const PATHS = {
  "compatibility/": ["compatibility", ":!compatibility/stamp.json"],
  "the contracts": ["src/*.sol", "test/examples/*.sol", "foundry.toml"],
  "the client": ["protocol/src/*.ts", ":!protocol/src/*.test.ts"],
  "the formats of exchanges": [
    "provider/sources/*.json",
    "devnet/src/simulated-market/*.ts",
    ":!devnet/src/simulated-market/*.test.ts",
  ],
  "the examples": ["examples", "tools/create-example-project.js", ":!*.md"],
};

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

/** Returns a hash of each thing that is checked. */
async function currentHashes() {
  // The built services take seconds to load, and the tests of this file need none.
  const { openApiDocuments } = await import("./openapi-documents.js");
  const files = Object.entries(PATHS).map(([name, patterns]) => [name, hashFiles(ROOT, patterns)]);
  const schemas = sha256(JSON.stringify(await openApiDocuments()));
  const blocks = sha256(documentedBlocks(ROOT).join("\n"));
  return { ...Object.fromEntries(files), "the schemas of the routes": schemas, "the documents' code": blocks };
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
    `compatibility/stamp.json is not current: ${changed.join(", ")} changed since the tests with other people's versions ` +
    "last passed. Run `npm run compatibility`, which renews it, and commit it."
  );
}

export async function renewStamp() {
  writeFileSync(STAMP, `${JSON.stringify(await currentHashes(), null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stamp = existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, "utf8")) : {};
  const message = complaint(stamp, await currentHashes());
  if (message !== null) {
    console.error(message);
    process.exitCode = 1;
  }
}
