// Writes the TypeScript ABIs of protocol/ from forge's output; with --check, only tells whether they are up to date.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readCommand } from "./command.js";
import { ROOT, runFoundry } from "./foundry.js";

const ABIS = [
  { contract: "Oracle", name: "oracleAbi", file: "oracle" },
  { contract: "MedianDataset", name: "datasetAbi", file: "dataset" },
  { contract: "WebOracleRegistry", name: "webOracleRegistryAbi", file: "web-oracle-registry" },
];

const USAGE = `Usage: npm run abi [-- --check]

Compiles the contracts, and writes their ABIs into protocol/src/abi; commit them with what changed them.

  --check   write nothing; fail if one is not what src/ compiles to
  --help    this text

Examples
  npm run abi
  npm run abi -- --check`;

const isCheck = readCommand(USAGE, { check: { type: "boolean" } }).values.check === true;
if ((await runFoundry("forge", ["build", "--quiet", "src"])) !== 0) throw new Error("forge build failed");

const folder = join(ROOT, "protocol", "src", "abi");
mkdirSync(folder, { recursive: true });
for (const { contract, name, file } of ABIS) {
  const { abi } = JSON.parse(readFileSync(join(ROOT, "out", `${contract}.sol`, `${contract}.json`), "utf8"));
  const source = `// Generated from src/${contract}.sol by \`npm run abi\`.\n\nexport const ${name} = ${JSON.stringify(withoutInternalTypes(abi), null, 2)} as const;\n`;
  const path = join(folder, `${file}.ts`);
  if (!isCheck) {
    writeFileSync(path, source);
  } else if (readFileSync(path, "utf8") !== source) {
    console.error(`${relative(ROOT, path)} is not what src/ compiles to. Run "npm run abi" and commit it.`);
    process.exitCode = 1;
  }
}

/** The names that Solidity gives to its types mean nothing outside of it. */
function withoutInternalTypes(abi) {
  return JSON.parse(JSON.stringify(abi, (key, value) => (key === "internalType" ? undefined : value)));
}
