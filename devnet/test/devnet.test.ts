import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { isFree } from "@dataset-oracle/devnet/free-ports";
import { type Process, respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { simulateQuery } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createWalletClient, type Hash, type Hex, http, parseAbi, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEVNET } from "../../docs/site/devnet-addresses.js";
import {
  chainOf,
  family,
  freePortOptions,
  isRunning,
  killIfRunning,
  NPM_START,
  START_MS,
  startDevnet,
} from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { dappClientTests } from "./on-one-devnet/dapp-client.js";
import { webOracleTests } from "./on-one-devnet/web-oracle.js";
import { connect, nextRound, type OneDevnet } from "./one-devnet.js";
import { postDataRequest } from "./post-data-request.js";
import { settingsOf } from "./script-settings.js";

/*
 * Everything that needs a whole devnet and no feeds: one is started, and used by one group of tests after the other. The
 * last ones end its parts, and then all of it.
 */

const SETTINGS = settingsOf(42);
const KEY = "SPOTPX/ETH-USD";
const HEX_KEY = spotPriceKey("ETH-USD");
/** The chain's default accounts, without the owner's and those of operators. */
const [UNUSED, UNUSED_TOO, SENDER, BUYER] = [5, 6, 7, 8].map((index) => deriveAccount(index).address);

let one: OneDevnet;
/** Services that were ended here and started again. */
const restarted: Process[] = [];

beforeAll(async () => {
  const devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"], NPM_START);
  one = { devnet, chain: connect(devnet.chain) };
}, START_MS);

afterAll(async () => {
  for (const service of restarted) await service.close();
  await one?.devnet.interrupt();
});

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.log(one.devnet.output()));
});

/** Reads the data point as a contract would, without sending anything. */
const query = async (key = HEX_KEY) => {
  const { value, updatedAt, status } = await simulateQuery(one.chain, { dataset: one.devnet.dataset, key });
  return { value, updatedAt, status };
};

const operatorNonce = () =>
  one.chain.getTransactionCount({ address: one.devnet.operator.address, blockTag: "pending" });

const post = (more: object = {}) =>
  postDataRequest(one.devnet, { network_id: 42, dataset: one.devnet.dataset, key: KEY, broadcast: true, ...more });

describe("the client that dapps install", () => dappClientTests(() => one));

describe("the Web Oracle", () => webOracleTests(() => one));

describe("the chain", () => {
  test("has id 42, and its ten default accounts are unlocked and funded", async () => {
    const { chain } = one;
    const accounts = Array.from({ length: 10 }, (_, index) => deriveAccount(index).address);
    expect(await chain.getChainId()).toBe(42);
    expect(await chain.request({ method: "eth_accounts" as never })).toEqual(accounts.map((a) => a.toLowerCase()));
    for (const address of accounts) expect(await chain.getBalance({ address })).toBeGreaterThan(parseEther("9990"));
  });

  test("makes blocks without transactions", async () => {
    const { number } = await one.chain.getBlock();
    await expect.poll(() => one.chain.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(number + 1n);
    expect((await one.chain.getBlock({ blockNumber: number + 1n })).transactions).toEqual([]);
  });

  test("has the datasets of the committed settings, at the addresses that documents and examples name", async () => {
    const { devnet, chain } = one;
    const { financial } = SETTINGS;
    const read = <T extends "owner" | "priceCeiling" | "maxRoundAge">(functionName: T) =>
      chain.readContract({ address: devnet.dataset, abi: datasetAbi, functionName });
    expect(await read("owner")).toBe(financial.owner);
    expect(await read("priceCeiling")).toBe(BigInt(financial.priceCeiling));
    expect(await read("maxRoundAge")).toBe(BigInt(financial.maxRoundAge));
    expect(devnet.queryPrice).toBe(financial.queryPrice);
    expect(devnet.providers.map(({ address }) => address)).toEqual(financial.members);
    const { CONSUMER, DATASET, LENS } = await import(join(ROOT, "examples/javascript/devnet-addresses.js"));
    const { dataset, consumer, lens, webOracle } = devnet;
    expect({ DATASET, CONSUMER, LENS }).toEqual({ DATASET: dataset, CONSUMER: consumer, LENS: lens });
    expect(DEVNET).toMatchObject({
      lens,
      datasets: { financial: dataset, webOracleNumber: webOracle.numbers, webOracleBytes: webOracle.words },
    });
    expect(devnet.providers.map(({ address }) => address)).toContain(DEVNET.provider);
  });
});

describe("an update that the operator sends", () => {
  test("brings a fresh value, scaled by 1e18, for the key in ASCII and then in hex", async () => {
    await nextRound();
    const first = await post();
    expect(first.status).toBe(200);
    const afterFirst = await query();
    const { value, timestamp, reports } = first.answer;
    expect(afterFirst).toEqual({ value: BigInt(value), updatedAt: BigInt(timestamp), status: "OK" });
    // The market's random walk starts at 3,421.75 and moves in small steps.
    expect(afterFirst.value).toBeGreaterThan(2_500n * 10n ** 18n);
    expect(afterFirst.value).toBeLessThan(4_500n * 10n ** 18n);
    expect(reports.length).toBeGreaterThanOrEqual(3);

    await nextRound();
    const second = await post({ key: HEX_KEY });
    expect(second.status).toBe(200);
    expect(second.answer).toMatchObject({ key: KEY, key_hex: HEX_KEY, status: "OK" });
    const { updatedAt } = await query();
    expect(updatedAt).toBeGreaterThan(afterFirst.updatedAt);
    expect(updatedAt).toBe(BigInt(second.answer.timestamp));
  });

  test("is shared by requests with the key in ASCII and in hex of either case, and changes no other key", async () => {
    const nonce = await operatorNonce();
    const other = await query(spotPriceKey("BTC-USD"));
    await nextRound();
    const keys = [KEY, HEX_KEY, `0x${HEX_KEY.slice(2).toUpperCase()}`];
    const answers = await Promise.all(keys.map((key) => post({ key })));
    expect(new Set(answers.map(({ answer }) => answer.transaction_hash)).size).toBe(1);
    expect(answers[0]?.answer.transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await operatorNonce()).toBe(nonce + 1);
    expect(await query(spotPriceKey("BTC-USD"))).toEqual(other);
  });
});

test("an update that the caller sends leaves the operator's nonce, and gives the same state from another account", async () => {
  const { chain } = one;
  const nonce = await operatorNonce();
  await nextRound();
  const { status, answer } = await post({ broadcast: false });
  expect(status).toBe(200);
  expect(answer.transaction_hash).toBeUndefined();
  const params = [{ from: SENDER, ...answer.transaction }];
  const hash = await chain.request<{ ReturnType: Hash }>({ method: "eth_sendTransaction", params } as never);
  expect((await chain.waitForTransactionReceipt({ hash })).status).toBe("success");
  expect(await query()).toEqual({ value: BigInt(answer.value), updatedAt: BigInt(answer.timestamp), status: "OK" });
  expect(await operatorNonce()).toBe(nonce);
});

test("a consumer contract reads with the helper, and pays the price out of its own balance", async () => {
  const { devnet, chain } = one;
  const abi = parseAbi(["function refresh()", "function price() view returns (uint256)"]);
  await nextRound();
  const { answer } = await post();
  const balances = () => Promise.all([devnet.consumer, devnet.dataset].map((address) => chain.getBalance({ address })));
  const [balance = 0n, income = 0n] = await balances();
  const wallet = createWalletClient({ transport: http(devnet.chain) });
  const refresh = { address: devnet.consumer, abi, functionName: "refresh", chain: null } as const;
  const hash = await wallet.writeContract({ ...refresh, account: BUYER as Hex });
  expect((await chain.waitForTransactionReceipt({ hash })).status).toBe("success");
  const price = BigInt(devnet.queryPrice);
  expect(price).toBeGreaterThan(0n);
  expect(await chain.readContract({ ...refresh, functionName: "price" })).toBe(BigInt(answer.value));
  expect(await balances()).toEqual([balance - price, income + price]);
});

describe("the operator", () => {
  test("lists the network, the datasets, their keys and their providers", async () => {
    const { devnet } = one;
    const response = await fetch(`${devnet.operator.url}/datasets`);
    expect(response.status).toBe(200);
    expect(SETTINGS.financial.keys.length).toBeGreaterThanOrEqual(20);
    const common = {
      network_id: 42,
      query_price: devnet.queryPrice,
      providers: devnet.providers.map(({ address, url }) => ({ address, url })),
    };
    expect(await response.json()).toEqual([
      { ...common, dataset: devnet.dataset, kind: "median", keys: SETTINGS.financial.keys },
      { ...common, dataset: devnet.webOracle.numbers, kind: "median", keys: expect.any(Array) },
      { ...common, dataset: devnet.webOracle.words, kind: "majority", keys: expect.any(Array) },
    ]);
  });

  test("updates every key of the dataset", async () => {
    const answers = await Promise.all(SETTINGS.financial.keys.map((key) => post({ key })));
    const outcomes = answers.map(({ status, answer }) => [status, answer.status]);
    expect(outcomes).toEqual(SETTINGS.financial.keys.map(() => [200, "OK"]));
  });

  test("answers more requests a minute than it does by default", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post({ broadcast: false })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("what is printed", () => {
  /** Returns the commands that the devnet printed under a title, one per line. */
  function printed(title: string): string[] {
    const lines = one.devnet.output().split("\n");
    const from = lines.findIndex((line) => line.includes(`# ${title}`));
    expect(from).toBeGreaterThan(0);
    const block = lines.slice(from + 1);
    return block.slice(0, block.indexOf("")).map((line) => line.trim());
  }

  /** Runs it in a shell, with the native cast: npm's launcher would hide a failure. */
  async function paste(command = ""): Promise<string> {
    const line = command.replace(/^npx cast/, `"${foundryBinary("cast")}"`);
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, timeout: 60_000 });
    return stdout;
  }

  test("has the private key of an account with Ether", async () => {
    const output = one.devnet.output();
    const [, key] = /private key +(0x[0-9a-f]{64})$/m.exec(output) ?? [];
    const { address } = privateKeyToAccount(key as Hex);
    expect(output).toMatch(new RegExp(`^ +address +${address} `, "m"));
    expect(await one.chain.getBalance({ address })).toBeGreaterThan(parseEther("1"));
  });

  test("has the datasets and the keys of the Web Oracle", () => {
    const { numbers, words, registry, examples } = one.devnet.webOracle;
    const output = one.devnet.output();
    for (const text of [numbers, words, registry, ...examples.map(({ key }) => key)]) expect(output).toContain(text);
  });

  test.runIf(HAS_CURL)("has commands that work as they stand", async () => {
    await nextRound();
    const answer = JSON.parse(await paste(printed("Request a fresh value and wait until it is mined")[0]));
    expect(answer).toMatchObject({ status: "OK", key: KEY });
    const price = await paste(printed("Read the price of a query, in wei")[0]);
    expect(price.split(" ")[0]?.trim()).toBe(one.devnet.queryPrice);
    const [value, updatedAt, status] = (await paste(printed("Read the value")[0])).split("\n");
    expect(value?.split(" ")[0]).toBe(answer.value);
    expect(updatedAt?.split(" ")[0]).toBe(String(answer.timestamp));
    expect(status).toBe("1");
    const [refresh, priceRead] = printed("Let the example contract pay");
    expect(await paste(refresh)).toMatch(/^status\s+1 \(success\)$/m);
    expect((await paste(priceRead)).split(" ")[0]).toBe(answer.value);
  });

  test.runIf(HAS_CURL)("has commands for the Web Oracle that work as they stand", async () => {
    await nextRound();
    const answer = JSON.parse(await paste(printed("Request a fresh Web Oracle value")[0]));
    expect(answer).toMatchObject({ status: "OK", key: one.devnet.webOracle.examples[0]?.key });
    const [value, , status] = (await paste(printed("Read it: kelvin × 10^2")[0])).split("\n");
    expect([value?.split(" ")[0], status]).toEqual([answer.value, "1"]);
    expect(await paste(printed("Publish a request spec")[0])).toMatch(/^Published 0x[0-9a-f]{64} on network 42/);
  });
});

test("the devnet uses five of the ten accounts", async () => {
  for (const address of [UNUSED, UNUSED_TOO] as Hex[]) {
    expect(await one.chain.getTransactionCount({ address })).toBe(0);
    expect(await one.chain.getBalance({ address })).toBe(parseEther("10000"));
  }
});

describe("when services end", () => {
  const end = async ({ pid }: { readonly pid: number }, signal: NodeJS.Signals) => {
    killIfRunning(pid, signal);
    await expect.poll(() => isRunning(pid)).toBe(false);
  };
  const provider = (index: number) => {
    const found = one.devnet.providers[index];
    if (found === undefined) throw new Error(`The devnet has no provider ${index}.`);
    return found;
  };

  test("one provider of four does not prevent updates, two do, and nothing is sent", async () => {
    await end(provider(1), "SIGKILL");
    await nextRound();
    const withThree = await post();
    expect(withThree).toMatchObject({ status: 200 });
    expect(withThree.answer.reports).toHaveLength(3);

    await end(provider(3), "SIGKILL");
    const [nonce, before] = [await operatorNonce(), await query()];
    await nextRound();
    const { status, answer } = await post();
    expect([status, answer.code]).toEqual([503, "no_quorum"]);
    for (const index of [1, 3]) expect(answer.detail).toContain(provider(index).address);
    for (const index of [0, 2]) expect(answer.detail).not.toContain(provider(index).address);
    expect(answer.detail).toContain("ECONNREFUSED");
    expect([await operatorNonce(), await query()]).toEqual([nonce, before]);
  });

  test("the commands that are printed then start them again", async () => {
    const { operator, output } = one.devnet;
    await end(operator, "SIGTERM");
    for (const { url, command } of [operator, provider(1), provider(3)]) {
      await expect.poll(output).toContain(`:\n  ${command}\n`);
      const isReady = () => respondsOk(`${url}/ready`);
      restarted.push(
        await startProcess({ name: url, command: "sh", args: ["-c", `exec env ${command}`], cwd: ROOT, isReady }),
      );
    }
    for (const service of restarted) await service.ready();
    const reports = async () => (await post()).answer.reports?.length;
    await expect.poll(reports, { timeout: 60_000, interval: 500 }).toBe(4);
  });
});

test.runIf(process.platform === "linux")(
  "a SIGTERM for npm ends all, although the chain does not respond",
  async () => {
    for (const service of restarted) await service.close();
    const { devnet } = one;
    const pids = family(devnet.process.pid as number);
    // npm, the devnet, the chain, the market and two providers, at least.
    expect(pids.length).toBeGreaterThanOrEqual(6);
    const chain = chainOf(pids);
    expect(chain).toHaveLength(1);
    for (const pid of chain) process.kill(pid, "SIGSTOP");
    devnet.process.kill("SIGTERM");
    await expect.poll(() => pids.filter(isRunning), { timeout: 30_000 }).toEqual([]);
    const urls = [devnet.chain, devnet.market, ...[...devnet.operators, ...devnet.providers].map(({ url }) => url)];
    for (const url of urls) expect(await isFree(Number(new URL(url).port)), url).toBe(true);
  },
);
