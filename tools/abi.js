// Writes the ABIs of protocol/, and the code of its lens, from forge's output; with --check, only compares them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
  { source: "lens/QueryLens.sol", name: "queryLensAbi", file: "query-lens", code: "queryLensCode" },
];

const USAGE = `Usage: npm run abi [-- --check]

Compiles the contracts and writes their ABIs to protocol/src/abi. Commit them together with the contracts.

  --check   write nothing; fail if a file does not match the contracts
  --help    show this text

Examples
  npm run abi
  npm run abi -- --check`;

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;
if ((await runFoundry("forge", ["build", "--quiet", "src"])) !== 0) throw new Error("forge build failed");

const folder = join(ROOT, "protocol", "src", "abi");
mkdirSync(folder, { recursive: true });
for (const { source, name, file, code } of ABIS) {
  const artifact = join(ROOT, "out", basename(source), `${basename(source, ".sol")}.json`);
  const { abi, deployedBytecode } = JSON.parse(readFileSync(artifact, "utf8"));
  const parts = [
    `// Generated from src/${source} by \`npm run abi\`.`,
    `export const ${name} = [\n${withoutInternalTypes(abi)
      .map((entry) => `  ${JSON.stringify(entry)},\n`)
      .join("")}] as const;`,
    // A lens is never deployed: whoever calls it brings its code.
    ...(code ? [`export const ${code} =\n  "${deployedBytecode.object}";`] : []),
  ];
  const text = `${parts.join("\n\n")}\n`;
  const path = join(folder, `${file}.ts`);
  if (!isCheck) {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${relative(ROOT, path)} is not what src/ compiles to. Run "npm run abi" and commit it.`);
    process.exitCode = 1;
  }
}

/** The names that Solidity gives to its types mean nothing outside of it. */
function withoutInternalTypes(abi) {
  return JSON.parse(JSON.stringify(abi, (key, value) => (key === "internalType" ? undefined : value)));
}
