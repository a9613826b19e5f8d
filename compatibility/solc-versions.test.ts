import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);

/** npm's names of the compilers: the oldest and the newest that the interface is promised to work with, and some between. */
const COMPILERS = ["solc-0.5.0", "solc-0.6.12", "solc-0.7.6", "solc-0.8.0", "solc"];

const source = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Every Solidity file of src/. */
const FILES = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".sol"))
  .map((name) => posix.join("src", name.replaceAll("\\", "/")))
  .toSorted();

/** The files of the npm package, with the versions that its README names. */
const FLOORS: Record<string, string> = {
  "src/Oracle.sol": "0.5.0",
  "src/usingOracleProtocol.sol": "0.8.13",
  "src/mocks/MockOracle.sol": "0.8.13",
  "src/interfaces/IDataset.sol": "0.8.4",
  "src/interfaces/IWebOracleRegistry.sol": "0.8.4",
  "src/interfaces/ICommitteeDirectory.sol": "0.8.4",
  "src/interfaces/IUpdateGateway.sol": "0.8.4",
  "src/libraries/UpdateCalldata.sol": "0.8.13",
  "src/libraries/Calldata.sol": "0.8.13",
  "src/types/KeyForm.sol": "0.8.4",
  "src/types/PackedUpdate.sol": "0.8.13",
  "src/adapters/ChainlinkAdapter.sol": "0.8.37",
  "src/adapters/MorphoAdapter.sol": "0.8.37",
  "src/adapters/PythAdapter.sol": "0.8.37",
  "src/adapters/QuoteAdapter.sol": "0.8.37",
  "src/adapters/SingleKeyReader.sol": "0.8.37",
};

/** Returns the first version that a file's pragma allows. */
function floorOf(path: string): string {
  const [, floor = ""] = /^pragma solidity (?:\^|>=)?(\d+\.\d+\.\d+)/m.exec(source(path)) ?? [];
  return floor;
}

/** Returns npm's name of a version of the compiler. A version that is not installed makes the test of its files fail. */
const compilerOf = (version: string) => (version === require("solc/package.json").version ? "solc" : `solc-${version}`);

const OPEN_ZEPPELIN = ["@openzeppelin/contracts/", "lib/openzeppelin-contracts/contracts/"] as const;

/** Reads a file and all that it imports, by path. */
function withImports(path: string, found: Record<string, string> = {}): Record<string, string> {
  if (found[path] !== undefined) return found;
  const text = source(path);
  found[path] = text;
  for (const [, imported = ""] of text.matchAll(/^import (?:[^"]* from )?"([^"]+)";/gm)) {
    const isRelative = imported.startsWith(".");
    const fromRoot = imported.replace(...OPEN_ZEPPELIN).replace("@dataset-oracle/contracts/", "src/");
    withImports(isRelative ? posix.join(posix.dirname(path), imported) : fromRoot, found);
  }
  return found;
}

/** The interface as somebody pastes it, with a contract that calls it, as a compiler's version has these written. */
function caller(compiler: string, query = 'oracle.query{value: oracle.queryPrice()}("SPOTPX/ETH-USD")'): string {
  // Until 0.6.1 an option of a call was written as a call of its own, and until 0.7 a constructor had a visibility.
  const paid = compiler === "solc-0.5.0" ? query.replace(/\{value: (.*?)\}/, ".value($1)") : query;
  return `${source("src/Oracle.sol")}
contract Caller {
    Oracle private oracle;
    bytes32 public output;
    uint256 public updatedAt;
    Oracle.QueryStatus public status;

    constructor(address dataset) ${/0\.[56]\./.test(compiler) ? "public" : ""} payable {
        oracle = Oracle(dataset);
        (output, updatedAt, status) = ${paid};
    }
}
`;
}

/** Compiles; warnings are fine. */
function compile(compiler: string, sources: Record<string, string>) {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }])),
    settings: {
      remappings: ["@dataset-oracle/contracts/=src/", OPEN_ZEPPELIN.join("=")],
      outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
    },
  };
  const { errors = [], contracts } = JSON.parse(require(compiler).compile(JSON.stringify(input)));
  const failures = errors.filter(({ severity }: { severity: string }) => severity === "error");
  return { failures: failures.map((error: { formattedMessage: string }) => error.formattedMessage), contracts };
}

test.each(COMPILERS)("%s compiles the pasted interface, with a contract that pays for a query", (compiler) => {
  const { failures, contracts } = compile(compiler, { "Caller.sol": caller(compiler) });
  expect(failures).toEqual([]);
  expect(contracts["Caller.sol"].Caller.evm.bytecode.object).toMatch(/^[0-9a-f]{100,}$/);
});

test("the files of the npm package allow the versions that its README names", () => {
  const floors = Object.keys(FLOORS).map((path) => [path, floorOf(path)]);
  expect(Object.fromEntries(floors)).toEqual(FLOORS);
});

/** Foundry compiles every file with the newest version. */
const OLDER = FILES.map((path) => [path, floorOf(path)] as const).filter(([, floor]) => compilerOf(floor) !== "solc");

test.each(OLDER)("%s compiles with the first version that it allows: %s", (path, floor) => {
  expect(compile(compilerOf(floor), withImports(path)).failures).toEqual([]);
});

test.each([
  "test/examples/PastedInterfaceConsumer.sol",
  "test/examples/SpotPriceConsumer.sol",
  "examples/foundry/src/Shop.sol",
  "examples/foundry/src/Settlement.sol",
])("%s compiles with the first and with the newest version that it allows", (path) => {
  for (const compiler of [compilerOf(floorOf(path)), "solc"]) {
    const { failures, contracts } = compile(compiler, withImports(path));
    expect(failures).toEqual([]);
    expect(Object.keys(contracts[path])).toContain(posix.basename(path, ".sol"));
  }
});

const USING = "using OracleProtocol for Oracle;";

/** What leads to the compiler's error that the guide explains, in the order of its table. */
const MISTAKES = [
  ["", 'function f(Oracle o) external { o.querySpotPrice("ETH-USD"); }'],
  [USING, 'function f(address o) external { o.querySpotPrice("ETH-USD"); }'],
  [USING, "function f(Oracle o, bytes32 key) external { o.queryUint(key); }"],
  [USING, 'function f(Oracle o, bytes memory u) public { o.updateAndQuerySpotPrice("ETH-USD", u, 60); }'],
  [USING, 'function f(Oracle o) external { o.updateAndQuerySpotPrice("ETH-USD", "", 60); }'],
] as const;

test("each cause of the compiler's error that the guide lists leads to it", () => {
  const [, table = ""] =
    /The compiler's error `Member [^`]*`.*\n\n((?:\|.*\n)+)/.exec(source("docs/Solidity.md")) ?? [];
  expect(table.trim().split("\n").length).toBe(MISTAKES.length + 2);
  const sources = withImports("src/usingOracleProtocol.sol");
  const failuresOf = (body: string) => {
    const contract = `pragma solidity ^0.8.13;
import {Oracle, OracleProtocol, usingOracleProtocol} from "../src/usingOracleProtocol.sol";
contract Mistaken is usingOracleProtocol { ${body} }`;
    return compile("solc", { ...sources, "test/Mistaken.sol": contract }).failures.join();
  };
  expect(failuresOf(USING)).toBe("");
  for (const [using, mistake] of MISTAKES)
    expect(failuresOf(`${using} ${mistake}`), mistake).toMatch(/Member "\w+" not found/);
});
