import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "mock-oracle-"));

/** The code in the documentation of MockOracle. */
const EXAMPLE = [...readFileSync(join(ROOT, "src/mocks/MockOracle.sol"), "utf8").matchAll(/^\/\/\/ {5}(\S.*)$/gm)].map(
  ([, line]) => line,
);

/** A test contract as somebody writes it who has just read that documentation. */
const testOf = (lines: readonly (string | undefined)[]) => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Test} from "forge-std/Test.sol";
import {Oracle, OracleProtocol, usingOracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";

contract Reader is usingOracleProtocol {
    using OracleProtocol for Oracle;

    function read(Oracle oracle) external returns (uint256) {
        return oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes);
    }
}

contract Buyer is usingOracleProtocol {
    using OracleProtocol for Oracle;

    Oracle private immutable oracle;
    uint256 public rate;

    constructor(Oracle oracle_) {
        oracle = oracle_;
    }

    function buy(bytes calldata update) external {
        rate = oracle.updateAndQuerySpotPrice("ETH-USD", update, 1 minutes);
    }
}

contract ExampleTest is Test {
    function test_fresh() public {
        Reader reader = new Reader();
        ${lines.slice(0, 2).join("\n        ")}
        assertEq(reader.read(oracle), 3000e18);
    }

    function test_tooOld() public {
        Reader reader = new Reader();
        ${lines.slice(0, 3).join("\n        ")}
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 660, 600));
        reader.read(oracle);
    }

    function test_noAgreement() public {
        Reader reader = new Reader();
        ${lines.slice(0, 5).join("\n        ")}
        bytes memory error = abi.encodeWithSelector(OracleProtocol.BadQueryStatus.selector, Oracle.QueryStatus.DISAGREEMENT);
        vm.expectRevert(error);
        reader.read(oracle);
    }

    function test_updates() public {
        ${lines.slice(0, 3).join("\n        ")}
        Buyer consumer = new Buyer(oracle);
        ${lines.slice(5, 7).join("\n        ")}
        assertEq(consumer.rate(), 3100e18);
        skip(2 minutes);
        update = oracle.spotPriceUpdate("ETH-USD", 3200e18, 5 seconds);
        ${lines[7]}
        vm.expectPartialRevert(OracleProtocol.UpdateRefused.selector);
        consumer.buy(update);
    }

    function test_tooOldForTheChain() public {
        ${lines[0]}
        string memory fix = "call vm.warp(1_790_000_000) before you set an answer";
        vm.expectRevert(abi.encodeWithSelector(MockOracle.OlderThanTheChain.selector, 660, 1, fix));
        oracle.setSpotPrice("ETH-USD", 3000e18, 11 minutes);
        // What the error says helps.
        vm.warp(1_790_000_000);
        oracle.setSpotPrice("ETH-USD", 3000e18, 11 minutes);
    }
}
`;

/** The files in the guide to subscriptions and adapters, by path. */
const GUIDE_FILES = new Map(
  [
    ...readFileSync(join(ROOT, "docs/Adapters.md"), "utf8").matchAll(
      /^<!-- (\S+\.sol) -->\n```solidity\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, path = "", code = ""]) => [path, code]),
);

const VAULT_TEST = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.13;

import {IDataset} from "@dataset-oracle/contracts/interfaces/IDataset.sol";
import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";
import {OracleProtocol} from "@dataset-oracle/contracts/usingOracleProtocol.sol";
import {Test} from "forge-std/Test.sol";

import {Vault} from "../src/Vault.sol";

contract VaultTest is Test {
    MockOracle private oracle;
    Vault private vault;

    function setUp() public {
        vm.warp(1_790_000_000);
        oracle = new MockOracle();
        oracle.setQueryPrice(0.001 ether);
        oracle.setSpotPrice("ETH-USD", 3000e18);
        vault = new Vault(oracle);
    }

    function test_subscribed() public {
        oracle.subscribe(address(vault), 1);
        assertEq(vault.valueOf(2 ether), 6000e18);
        skip(11 minutes);
        vm.expectRevert(abi.encodeWithSelector(OracleProtocol.DataExpired.selector, 660, 600));
        vault.valueOf(2 ether);
    }

    function test_notSubscribed() public {
        vm.expectRevert(abi.encodeWithSelector(IDataset.SubscriptionNeeded.selector, address(vault), 0, 30 days));
        vault.valueOf(2 ether);
    }
}
`;

beforeAll(() => {
  cpSync(join(ROOT, "src"), join(folder, "lib/dataset-oracle/src"), { recursive: true });
  cpSync(join(ROOT, "foundry.toml"), join(folder, "lib/dataset-oracle/foundry.toml"));
  symlinkSync(join(ROOT, "lib/forge-std"), join(folder, "lib/forge-std"));
  writeFileSync(join(folder, "foundry.toml"), "[profile.default]\n");
  const files = new Map([["test/Example.t.sol", testOf(EXAMPLE)], ["test/Vault.t.sol", VAULT_TEST], ...GUIDE_FILES]);
  for (const [path, code] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), code);
  }
});

test("the examples of MockOracle, in its documentation and in the guide to adapters, do what they say, in a fresh project", async () => {
  expect(EXAMPLE).toHaveLength(8);
  const { stdout } = await run(foundryBinary("forge"), ["test", "--root", folder, "--json"], { env: foundryEnv() });
  const suites: Record<string, { test_results: Record<string, { status: string }> }> = JSON.parse(stdout);
  const results = Object.entries(suites).map(([name, suite]) => [
    name,
    Object.values(suite.test_results).map(({ status }) => status),
  ]);
  expect(Object.fromEntries(results)).toEqual({
    "test/Example.t.sol:ExampleTest": Array(5).fill("Success"),
    "test/Market.t.sol:MarketTest": Array(4).fill("Success"),
    "test/Vault.t.sol:VaultTest": Array(2).fill("Success"),
  });
}, 120_000);
