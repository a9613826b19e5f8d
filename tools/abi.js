// Writes the ABIs and the lens code of protocol/ from forge's output. With --check, it only compares them.

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { readArguments } from "./arguments.js";
import { runFoundry } from "./foundry.js";
import { ROOT } from "./repository-root.js";

const ABIS = [
  { source: "Oracle.sol", name: "oracleAbi", file: "oracle" },
  { source: "MedianDataset.sol", name: "datasetAbi", file: "dataset" },
  { source: "WebOracleRegistry.sol", name: "webOracleRegistryAbi", file: "web-oracle-registry" },
  { source: "CommitteeDirectory.sol", name: "committeeDirectoryAbi", file: "committee-directory" },
  { source: "interfaces/IUpdateGateway.sol", name: "updateGatewayAbi", file: "update-gateway" },
  { source: "lens/VerifiedLens.sol", name: "verifiedLensAbi", file: "verified-lens" },
  { source: "lens/QueryLens.sol", name: "queryLensAbi", file: "query-lens" },
];

const USAGE = `Usage: npm run abi [-- --check]

Compiles the contracts and writes their ABIs to protocol/src/abi, and the code of the lens to protocol/src/client. Commit
them together with the contracts.

  --check   write nothing; fail if a file does not match the contracts
  --help    show this text

Examples
  npm run abi
  npm run abi -- --check`;

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;
if ((await runFoundry("forge", ["build", "--quiet", "src"])) !== 0)
  throw new Error('forge build failed. Run "npm run build:sol" to see the errors.');

for (const { source, name, file } of ABIS) {
  const entries = withoutInternalTypes(artifactOf(source).abi).map((entry) => `  ${JSON.stringify(entry)},\n`);
  write(`abi/${file}.ts`, source, `export const ${name} = [\n${entries.join("")}] as const;`);
}
// This lens is never deployed: each call to it brings its code, as a state override.
const lens = "lens/QueryLens.sol";
const { object } = artifactOf(lens).deployedBytecode;
write("client/query-lens-code.ts", lens, `export const queryLensCode =\n  "${object}";`);

/**
 * @param {string} source The path of a contract in src/.
 * @returns {{ abi: object[], deployedBytecode: { object: string } }}
 */
function artifactOf(source) {
  return JSON.parse(readFileSync(join(ROOT, "out", basename(source), `${basename(source, ".sol")}.json`), "utf8"));
}

/**
 * Writes a file, or checks it.
 *
 * @param {string} file
 * @param {string} source The contract that it is generated from.
 * @param {string} declaration
 */
function write(file, source, declaration) {
  const text = `// Generated from src/${source} by \`npm run abi\`.\n\n${declaration}\n`;
  const path = join(ROOT, "protocol", "src", file);
  if (!isCheck) {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${relative(ROOT, path)} is not what src/ compiles to. Run "npm run abi" and commit it.`);
    process.exitCode = 1;
  }
}

/**
 * Leaves out the names of Solidity's own types, which mean nothing outside of Solidity.
 *
 * @param {object[]} abi
 * @returns {object[]}
 */
function withoutInternalTypes(abi) {
  return JSON.parse(JSON.stringify(abi, (key, value) => (key === "internalType" ? undefined : value)));
}
