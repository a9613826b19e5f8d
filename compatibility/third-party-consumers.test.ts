import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { QUERY_PRICE } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { spotPriceKey } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import {
  type Abi,
  type Address,
  encodeDeployData,
  type Hex,
  keccak256,
  maxUint256,
  parseEther,
  toFunctionSelector,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { OWNER, startChain, type TestChain } from "../operator/test/support/chain.js";
import { signedUpdate } from "../operator/test/support/signed-update.js";

// Contracts of others read a dataset, as their packages publish them and with the compilers that they name:
// @pythnetwork/pyth-sdk-solidity (Apache-2.0) and @morpho-org/morpho-blue (BUSL-1.1 until 2026, since then GPL-2.0 or
// later).

const require = createRequire(import.meta.url);

const PAIR = "ETH-USD";
const KEY = spotPriceKey(PAIR);
const PERIOD_PRICE = parseEther("0.1");

const accounts = Array.from({ length: 4 }, () => privateKeyToAccount(generatePrivateKey())).toSorted((a, b) =>
  BigInt(a.address) < BigInt(b.address) ? -1 : 1,
);

let chain: TestChain;
let dataset: Address;
/** The last stored round. */
let round: bigint;

interface Compiled {
  readonly abi: Abi;
  readonly code: Hex;
}

/** Compiles a source as it is, with all that it imports by a relative path or from a package. */
function compile(compiler: string, entry: string, contract: string, text?: string): Compiled {
  const sources: Record<string, { content: string }> = {};
  const add = (path: string, content: string) => {
    sources[path] = { content };
    for (const [, imported = ""] of content.matchAll(/^\s*(?:import|}) (?:[^"';]*from )?["']([^"']+)["'];/gm)) {
      const next = imported.startsWith(".") ? posix.join(posix.dirname(path), imported) : imported;
      if (!sources[next]) add(next, readFileSync(require.resolve(next), "utf8"));
    }
  };
  add(entry, text ?? readFileSync(require.resolve(entry), "utf8"));
  const input = {
    language: "Solidity",
    sources,
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const { errors = [], contracts } = JSON.parse(require(compiler).compile(JSON.stringify(input)));
  const failures = errors.filter(({ severity }: { severity: string }) => severity === "error");
  expect(failures.map((error: { formattedMessage: string }) => error.formattedMessage)).toEqual([]);
  const { abi, evm } = contracts[entry][contract];
  return { abi, code: `0x${evm.bytecode.object}` };
}

/** Reads what forge compiled. */
function artifact(name: string): Compiled {
  const { abi, bytecode } = JSON.parse(readFileSync(join(ROOT, "out", `${name}.sol`, `${name}.json`), "utf8"));
  return { abi, code: bytecode.object };
}

/** A deployed contract, whose functions are called by their names. */
class Deployed {
  constructor(
    readonly address: Address,
    readonly abi: Abi,
  ) {}

  static async create({ abi, code }: Compiled, args: readonly unknown[] = []): Promise<Deployed> {
    const data = encodeDeployData({ abi, bytecode: code, args });
    const hash = await chain.client.sendTransaction({ account: OWNER, data });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
    if (!contractAddress) throw new Error("The contract was not deployed.");
    return new Deployed(contractAddress, abi);
  }

  // The results of contracts that are compiled here have no types.
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what its contract returns.
  read(functionName: string, ...args: unknown[]): Promise<any> {
    return chain.client.readContract({ address: this.address, abi: this.abi, functionName, args });
  }

  /** Sends a transaction of the owner. Rejects with the contract's error if it would revert. */
  async write(functionName: string, args: readonly unknown[], value = 0n): Promise<void> {
    const call = { address: this.address, abi: this.abi, functionName, args, value, account: OWNER };
    await chain.client.simulateContract(call);
    // The estimate alone would not cover what the call costs in a later second, in which interest is due.
    const gas = 2n * (await chain.client.estimateContractGas(call));
    await chain.wait(await chain.client.writeContract({ ...call, gas }));
  }
}

/** Stores a round of reports of all providers. */
async function store(value: bigint, outcome: Outcome = "OK"): Promise<void> {
  await pass(1);
  round = (await chain.client.getBlock()).timestamp;
  const signers = accounts.map((account) => ({ account, value }));
  const data = encodeUpdateCall(await signedUpdate(dataset, KEY, round, signers, { outcome }));
  await chain.wait(await chain.client.sendTransaction({ account: OWNER, to: dataset, data }));
}

/** Lets an adapter, or what it reads through, read for a period. */
async function subscribe({ address }: Deployed): Promise<void> {
  await new Deployed(dataset, datasetAbi).write("subscribe", [address, 1n], PERIOD_PRICE);
}

/** Lets seconds pass. */
async function pass(seconds: number): Promise<void> {
  await chain.client.increaseTime({ seconds });
  await chain.client.mine({ blocks: 1 });
}

beforeAll(async () => {
  chain = await startChain();
  await chain.client.setAutomine(true);
  dataset = await chain.deploy(accounts.map(({ address }) => address));
});

describe("Pyth's own contracts", () => {
  const SDK = "@pythnetwork/pyth-sdk-solidity";
  let adapter: Deployed;
  let feed: Deployed;

  beforeAll(async () => {
    await store(parseEther("3000"));
    adapter = await Deployed.create(artifact("PythAdapter"), [dataset, -8, 100n]);
    await adapter.write("list", [KEY]);
    await subscribe(adapter);
    const aggregator = compile("solc", `${SDK}/PythAggregatorV3.sol`, "PythAggregatorV3");
    feed = await Deployed.create(aggregator, [adapter.address, keccak256(KEY)]);
  });

  test("PythAggregatorV3 serves the adapter's price through Chainlink's interface", async () => {
    expect(await feed.read("decimals")).toBe(8);
    expect(await feed.read("latestRoundData")).toEqual([round, 3_000_00000000n, round, round, round]);
  });

  test("PythUtils converts what the published interface reads", async () => {
    const pyth = new Deployed(adapter.address, require(`${SDK}/abis/IPyth.json`));
    const { price, conf, expo, publishTime } = await pyth.read("getPriceNoOlderThan", keccak256(KEY), 60n);
    expect([price, conf, expo, publishTime]).toEqual([3_000_00000000n, 30_00000000n, -8, round]);
    const utils = await Deployed.create(compile("solc", `${SDK}/PythUtils.sol`, "PythUtils"));
    expect(await utils.read("convertToUint", price, expo, 18)).toBe(parseEther("3000"));
  });

  test("neither gets a value where the providers have none, and the feed updates nothing", async () => {
    await expect(feed.write("updateFeeds", [[]])).rejects.toThrow(toFunctionSelector("NotSupported(bytes4)"));
    await store(0n, "NOT_AVAILABLE");
    await expect(feed.read("latestRoundData")).rejects.toThrow(toFunctionSelector("PriceFeedNotFound()"));
  });
});

describe("a market of Morpho Blue", () => {
  const SOURCE = "@morpho-org/morpho-blue/src";
  const MAX_AGE = 600;
  const LLTV = parseEther("0.86");
  /** The adapter's error, which Morpho passes on without knowing it. */
  const UNTRUSTED = toFunctionSelector("OracleUntrustedData(address,address)");
  let morpho: Deployed;
  let market: readonly [Address, Address, Address, Address, bigint];
  const amounts = (assets: bigint) => [assets, 0n] as const;

  beforeAll(async () => {
    await store(parseEther("3000"));
    const token = compile("solc", `${SOURCE}/mocks/ERC20Mock.sol`, "ERC20Mock");
    const [collateral, loan] = [await Deployed.create(token), await Deployed.create(token)];
    const assets = [
      { asset: collateral.address, key: KEY },
      { asset: loan.address, key: "0x" },
    ];
    const quotes = await Deployed.create(artifact("QuoteAdapter"), [dataset, BigInt(MAX_AGE), assets]);
    await subscribe(quotes);
    const oracle = await Deployed.create(artifact("MorphoAdapter"), [quotes.address, collateral.address, loan.address]);
    morpho = await Deployed.create(compile("solc-0.8.19", `${SOURCE}/Morpho.sol`, "Morpho"), [OWNER]);
    market = [loan.address, collateral.address, oracle.address, zeroAddress, LLTV];
    await morpho.write("enableIrm", [zeroAddress]);
    await morpho.write("enableLltv", [LLTV]);
    await morpho.write("createMarket", [market]);
    for (const each of [collateral, loan]) {
      await each.write("setBalance", [OWNER, parseEther("1000000")]);
      await each.write("approve", [morpho.address, maxUint256]);
    }
    await morpho.write("supply", [market, ...amounts(parseEther("100000")), OWNER, "0x"]);
    await morpho.write("supplyCollateral", [market, parseEther("10"), OWNER, "0x"]);
  });

  const borrow = (assets: bigint) => morpho.write("borrow", [market, ...amounts(assets), OWNER, OWNER]);
  const liquidate = () => morpho.write("liquidate", [market, OWNER, parseEther("1"), 0n, "0x"]);

  test("lends up to what the collateral is worth at the stored price", async () => {
    await expect(borrow(parseEther("25800") + 1n)).rejects.toThrow("insufficient collateral");
    await borrow(parseEther("25800"));
  });

  test("liquidates when the price falls, and not before", async () => {
    await expect(liquidate()).rejects.toThrow("position is healthy");
    await store(parseEther("2900"));
    await liquidate();
  });

  test("does neither with a price that is too old, or without one", async () => {
    await pass(MAX_AGE + 1);
    await expect(borrow(1n)).rejects.toThrow(UNTRUSTED);
    await expect(liquidate()).rejects.toThrow(UNTRUSTED);
    await store(0n, "NOT_AVAILABLE");
    await expect(borrow(1n)).rejects.toThrow(UNTRUSTED);
  });
});

describe("a contract of 2019, written for the interface's first system", () => {
  /** It pastes the interface, pays by `.value`, and inherits its helper, as contracts of Solidity 0.5 did. */
  const SOURCE = `pragma solidity ^0.5.0;

interface Oracle {
  enum QueryStatus { INVALID, OK, NOT_AVAILABLE, DISAGREEMENT }
  function query(bytes calldata) external payable returns (bytes32 output, uint256 updatedAt, QueryStatus status);
  function queryPrice() external view returns (uint256);
}

library Helpers {
  function querySpotPriceWithExpiry(Oracle oracle, bytes memory pair, uint256 timeLimit) internal returns (uint256) {
    bytes memory key = abi.encodePacked("SPOTPX/", pair);
    (bytes32 output, uint256 updatedAt, Oracle.QueryStatus status) = oracle.query.value(oracle.queryPrice())(key);
    require(status == Oracle.QueryStatus.OK, "no value");
    require(now - updatedAt <= timeLimit, "too old");
    return uint256(output);
  }
}

contract UsingHelpers {
  using Helpers for Oracle;
}

contract Option is UsingHelpers {
  Oracle public oracle;
  uint256 public strike;

  constructor(Oracle oracle_) public payable {
    oracle = oracle_;
  }

  function open() public payable {
    strike = oracle.querySpotPriceWithExpiry("ETH-USD", 10 minutes);
  }
}`;

  test("opens an option with what the caller pays, and not with an old value, or without one, or without Ether", async () => {
    await store(parseEther("3000"));
    const option = await Deployed.create(compile("solc-0.5.0", "Option.sol", "Option", SOURCE), [dataset]);
    await option.write("open", [], QUERY_PRICE);
    expect(await option.read("strike")).toBe(parseEther("3000"));
    expect(await chain.client.getBalance(option)).toBe(0n);
    await expect(option.write("open", [])).rejects.toThrow("reverted");
    await pass(601);
    await expect(option.write("open", [], QUERY_PRICE)).rejects.toThrow("too old");
    await store(0n, "NOT_AVAILABLE");
    await expect(option.write("open", [], QUERY_PRICE)).rejects.toThrow("no value");
  });
});
