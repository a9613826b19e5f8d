import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { describe, expect, test } from "vitest";

const require = createRequire(import.meta.url);

/** npm's names of the compilers: the oldest and the newest that the interface is promised to work with, and some between. */
const COMPILERS = ["solc-0.5.17", "solc-0.6.12", "solc-0.7.6", "solc-0.8.0", "solc"];

/** The helpers use custom errors, which came with 0.8.4. */
const HELPER_COMPILERS = ["solc-0.8.4", "solc"];

const source = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The interface as somebody pastes it, with a contract that calls it. */
const pasted = `${source("src/Oracle.sol")}
contract Caller {
    Oracle private oracle;
    bytes32 public output;
    uint256 public updatedAt;
    Oracle.QueryStatus public status;

    constructor(address dataset) VISIBILITY payable {
        oracle = Oracle(dataset);
        read();
    }

    function read() public payable {
        PAID_QUERY
    }
}
`;

/** Until 0.6.1 an option of a call was written as a call of its own. */
const paidQuery = (compiler: string) =>
  compiler === "solc-0.5.17"
    ? '(output, updatedAt, status) = oracle.query.value(oracle.queryPrice())("SPOTPX/ETH-USD");'
    : '(output, updatedAt, status) = oracle.query{value: oracle.queryPrice()}("SPOTPX/ETH-USD");';

/** Until 0.7 a constructor had a visibility. */
const visibility = (compiler: string) => (/0\.[56]\./.test(compiler) ? "public" : "");

const caller = (compiler: string, statement: string) =>
  pasted.replace("PAID_QUERY", statement).replace("VISIBILITY", visibility(compiler));

/** Compiles; warnings are fine. */
function compile(compiler: string, sources: Record<string, string>) {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }])),
    settings: {
      remappings: ["@dataset-oracle/contracts/=src/"],
      outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
    },
  };
  const { errors = [], contracts } = JSON.parse(require(compiler).compile(JSON.stringify(input)));
  const failures = errors.filter(({ severity }: { severity: string }) => severity === "error");
  return { failures: failures.map((error: { formattedMessage: string }) => error.formattedMessage), contracts };
}

describe("S7: the pasted interface compiles, with a contract that pays for a query", () => {
  test.each(COMPILERS)(
    "%s",
    (compiler) => {
      const { failures, contracts } = compile(compiler, {
        "Caller.sol": caller(compiler, paidQuery(compiler)),
      });
      expect(failures).toEqual([]);
      expect(contracts["Caller.sol"].Caller.evm.bytecode.object).toMatch(/^[0-9a-f]{100,}$/);
    },
    60_000,
  );

  test("and does not with a query that the interface does not have", () => {
    const { failures } = compile("solc", { "Caller.sol": caller("solc", "oracle.ask();") });
    expect(failures.join()).toContain("ask");
  });
});

describe("the helpers and the example compile", () => {
  test.each(HELPER_COMPILERS)("%s", (compiler) => {
    const paths = ["src/Oracle.sol", "src/usingOracleProtocol.sol", "test/examples/SpotPriceConsumer.sol"];
    const { failures, contracts } = compile(compiler, Object.fromEntries(paths.map((path) => [path, source(path)])));
    expect(failures).toEqual([]);
    expect(contracts["test/examples/SpotPriceConsumer.sol"].SpotPriceConsumer).toBeDefined();
  });
});
