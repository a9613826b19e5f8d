import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);

const ADAPTERS = readdirSync(join(ROOT, "src/adapters"))
  .map((file) => file.replace(".sol", ""))
  .filter((name) => name !== "SingleKeyReader");
const DATASETS = ["MedianDataset", "MajorityDataset"];

/** Reads what forge compiled the contract to, and from what. */
function artifactOf(contract: string) {
  const { bytecode, metadata } = JSON.parse(readFileSync(join(ROOT, `out/${contract}.sol/${contract}.json`), "utf8"));
  return { code: bytecode.object as string, metadata };
}

/** Compiles a contract with nothing but its file and what it imports, as block explorers do. */
function compileAlone(contract: string): string {
  const { metadata } = artifactOf(contract);
  const { compilationTarget, ...settings } = metadata.settings;
  const [path = ""] = Object.keys(compilationTarget);
  const sources = Object.fromEntries(
    Object.keys(metadata.sources).map((path) => [path, { content: readFileSync(join(ROOT, path), "utf8") }]),
  );
  const outputSelection = { [path]: { [contract]: ["evm.bytecode.object"] } };
  // The oldest EVM that the contracts need. forge compiles those without the slow pipeline for a newer one.
  const input = { language: "Solidity", sources, settings: { ...settings, evmVersion: "cancun", outputSelection } };
  const { contracts } = JSON.parse(require("solc").compile(JSON.stringify(input)));
  return `0x${contracts[path][contract].evm.bytecode.object}`;
}

test.each([...DATASETS, ...ADAPTERS, "WebOracleRegistry", "CommitteeDirectory", "VerifiedLens"])(
  "block explorers get the code of %s from its sources, compiled for Cancun",
  (contract) => {
    expect(compileAlone(contract)).toBe(artifactOf(contract).code);
  },
);
