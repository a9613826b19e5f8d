import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { oracleAbi } from "@dataset-oracle/protocol/abi/oracle";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import {
  type Address,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  parseEther,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, killIfRunning, startDevnet } from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { postDataRequest } from "./post-data-request.js";
import { settingsOf } from "./script-settings.js";

const SETTINGS = settingsOf(42);
const KEY = "SPOTPX/ETH-USD";
const HEX_KEY = spotPriceKey("ETH-USD");

let devnet: Devnet;
let chain: ReturnType<typeof connect>;

const connect = (url: string) => createTestClient({ mode: "anvil", transport: http(url) }).extend(publicActions);

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  chain = connect(devnet.chain);
}, 130_000);

afterAll(() => devnet?.interrupt());

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.log(devnet.output()));
});

/** Reads the data point as a contract would, without sending anything. */
async function query(key = HEX_KEY) {
  const { result } = await chain.simulateContract({
    address: devnet.dataset,
    abi: oracleAbi,
    functionName: "query",
    args: [key],
    value: BigInt(devnet.queryPrice),
    account: accounts[9] as Address,
  });
  const [output, updatedAt, status] = result;
  return { value: BigInt(output), updatedAt, status: QUERY_STATUSES[status] };
}

const operatorNonce = () => chain.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" });

/** anvil's ten default accounts. */
const accounts = [
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
  "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
  "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
] as const;

const request = (more: object = {}) => ({
  network_id: 42,
  dataset: devnet.dataset,
  key: KEY,
  broadcast: true,
  ...more,
});

/** A request after this time is of another round, because rounds are whole seconds. */
const nextRound = () => sleep(1_100);

describe("the chain", () => {
  test("has id 42, and its ten default accounts are unlocked and funded", async () => {
    expect(await chain.getChainId()).toBe(42);
    expect(await chain.request({ method: "eth_accounts" as never })).toEqual(accounts.map((a) => a.toLowerCase()));
    for (const address of accounts) {
      expect(await chain.getBalance({ address })).toBeGreaterThan(parseEther("9990"));
    }
  });

  test("makes a block a second", async () => {
    const before = await chain.getBlockNumber({ cacheTime: 0 });
    const beganAt = performance.now();
    await sleep(3_000);
    const blocks = Number((await chain.getBlockNumber({ cacheTime: 0 })) - before);
    expect(blocks).toBeGreaterThanOrEqual(2);
    expect(blocks).toBeLessThanOrEqual(Math.ceil((performance.now() - beganAt) / 1_000) + 1);
  });
});

describe("an update that the operator sends", () => {
  test("brings a fresh value, scaled by 1e18, for the key in ASCII and then in hex", async () => {
    const first = await postDataRequest(devnet, request());
    expect(first.status).toBe(200);
    const afterFirst = await query();
    expect(afterFirst).toEqual({
      value: BigInt(first.answer.value),
      updatedAt: BigInt(first.answer.timestamp),
      status: "OK",
    });
    // The market's random walk starts at 3,421.75 and moves in small steps.
    expect(afterFirst.value).toBeGreaterThan(2_500n * 10n ** 18n);
    expect(afterFirst.value).toBeLessThan(4_500n * 10n ** 18n);
    expect(first.answer.reports).toHaveLength(4);

    await nextRound();
    const second = await postDataRequest(devnet, request({ key: HEX_KEY }));
    expect(second.status).toBe(200);
    expect(second.answer).toMatchObject({ key: KEY, key_hex: HEX_KEY, status: "OK" });
    const afterSecond = await query();
    expect(afterSecond.updatedAt).toBeGreaterThan(afterFirst.updatedAt);
    expect(afterSecond.updatedAt).toBe(BigInt(second.answer.timestamp));
  });

  test("is shared by requests with the key in ASCII and in hex of either case", async () => {
    await nextRound();
    const nonce = await operatorNonce();
    const keys = [KEY, HEX_KEY, `0x${HEX_KEY.slice(2).toUpperCase()}`];
    // All three are sent early in one second, so that they are of one round.
    await sleep(1_000 - (Date.now() % 1_000) + 50);
    const answers = await Promise.all(keys.map((key) => postDataRequest(devnet, request({ key }))));
    expect(new Set(answers.map(({ answer }) => answer.transaction_hash)).size).toBe(1);
    expect(answers[0]?.answer.transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await operatorNonce()).toBe(nonce + 1);
  });

  test("changes the named key and no other", async () => {
    await nextRound();
    const before = await query();
    const { status, answer } = await postDataRequest(devnet, request({ key: "SPOTPX/BTC-USD" }));
    expect(status).toBe(200);
    expect((await query(spotPriceKey("BTC-USD"))).updatedAt).toBe(BigInt(answer.timestamp));
    expect(await query()).toEqual(before);
  });
});

describe("an update that the caller sends", () => {
  test("leaves the operator's nonce, and gives the same state from another account", async () => {
    await nextRound();
    const nonce = await operatorNonce();
    const { status, answer } = await postDataRequest(devnet, request({ broadcast: false }));
    expect(status).toBe(200);
    expect(answer.transaction_hash).toBeUndefined();
    expect(await operatorNonce()).toBe(nonce);

    const hash = await chain.request({
      method: "eth_sendTransaction",
      params: [{ from: accounts[7], ...answer.transaction }],
    } as never);
    const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    expect(receipt.status).toBe("success");
    expect(await query()).toEqual({
      value: BigInt(answer.value),
      updatedAt: BigInt(answer.timestamp),
      status: "OK",
    });
    expect(await operatorNonce()).toBe(nonce);
  });
});

describe("a consumer contract", () => {
  const abi = parseAbi(["function refresh()", "function price() view returns (uint256)"]);

  test("reads with the helper, and pays the price out of its own balance", async () => {
    await nextRound();
    const { answer } = await postDataRequest(devnet, request());
    const [balance, income] = await Promise.all([
      chain.getBalance({ address: devnet.consumer }),
      chain.getBalance({ address: devnet.dataset }),
    ]);
    const wallet = createWalletClient({ account: accounts[8], transport: http(devnet.chain) });
    const hash = await wallet.writeContract({ address: devnet.consumer, abi, functionName: "refresh", chain: null });
    expect((await chain.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status).toBe("success");

    const price = BigInt(devnet.queryPrice);
    expect(price).toBeGreaterThan(0n);
    expect(await chain.readContract({ address: devnet.consumer, abi, functionName: "price" })).toBe(
      BigInt(answer.value),
    );
    expect(await chain.getBalance({ address: devnet.consumer })).toBe(balance - price);
    expect(await chain.getBalance({ address: devnet.dataset })).toBe(income + price);
  });
});

describe("the operator's catalogue", () => {
  test("GET /datasets lists the network, the dataset, its keys and its providers", async () => {
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
      { ...common, dataset: devnet.webOracle.numbers, kind: "median", keys: [] },
      { ...common, dataset: devnet.webOracle.words, kind: "majority", keys: [] },
    ]);
  });

  test("every key of the dataset can be updated on chain", async () => {
    const answers = await Promise.all(
      SETTINGS.financial.keys.map((key: string) => postDataRequest(devnet, request({ key }))),
    );
    expect(answers.map(({ status, answer }) => [status, answer.status])).toEqual(
      SETTINGS.financial.keys.map(() => [200, "OK"]),
    );
  }, 60_000);
});

test("a thousand requests a minute are within the operator's limits", async () => {
  const statuses = new Set<number>();
  for (let i = 0; i < 10; ++i) {
    const responses = await Promise.all(
      Array.from({ length: 100 }, () =>
        postDataRequest(devnet, request({ broadcast: false })).then(({ status }) => status),
      ),
    );
    for (const status of responses) statuses.add(status);
  }
  expect([...statuses]).toEqual([200]);
}, 60_000);

test("the printed private key is that of an account with Ether", async () => {
  const [, key] = /private key +(0x[0-9a-f]{64})$/m.exec(devnet.output()) ?? [];
  const { address } = privateKeyToAccount(key as Hex);
  expect(devnet.output()).toMatch(new RegExp(`^ +address +${address} `, "m"));
  expect(await chain.getBalance({ address })).toBeGreaterThan(parseEther("1"));
});

describe("the printed commands", () => {
  /** Returns the commands that the devnet printed under a title, one per line. */
  function printed(title: string): string[] {
    const lines = devnet.output().split("\n");
    const from = lines.findIndex((line) => line.includes(`# ${title}`));
    expect(from).toBeGreaterThan(0);
    const block = lines.slice(from + 1);
    return block.slice(0, block.indexOf("")).map((line) => line.trim());
  }

  /** Runs it in a shell, with the native cast: npm's launcher would hide a failure. */
  async function paste(command: string): Promise<string> {
    const line = command.replace(/^npx cast/, `"${foundryBinary("cast")}"`);
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, timeout: 30_000 });
    return stdout;
  }

  test.runIf(HAS_CURL)("work as they stand", async () => {
    await nextRound();
    const answer = JSON.parse(await paste(printed("Request a fresh value and wait until it is mined")[0] ?? ""));
    expect(answer).toMatchObject({ status: "OK", key: KEY });

    const price = await paste(printed("Read the price of a query, in wei")[0] ?? "");
    expect(price.split(" ")[0]?.trim()).toBe(devnet.queryPrice);

    const [value, updatedAt, status] = (await paste(printed("Read the value")[0] ?? "")).split("\n");
    expect(value?.split(" ")[0]).toBe(answer.value);
    expect(updatedAt?.split(" ")[0]).toBe(String(answer.timestamp));
    expect(status).toBe("1");

    const [refresh = "", priceRead = ""] = printed("Let the example contract pay");
    expect(await paste(refresh)).toMatch(/^status\s+1 \(success\)$/m);
    expect((await paste(priceRead)).split(" ")[0]).toBe(answer.value);
  });
});

describe("unreachable providers", () => {
  async function kill(index: number): Promise<void> {
    const { pid } = devnet.providers[index] as Devnet["providers"][number];
    killIfRunning(pid, "SIGKILL");
    while (isRunning(pid)) await sleep(20);
  }

  test("one of four does not prevent updates, two do, and updates work again once they are back", async () => {
    await kill(1);
    await nextRound();
    const withThree = await postDataRequest(devnet, request());
    expect(withThree).toMatchObject({ status: 200 });
    expect(withThree.answer.reports).toHaveLength(3);

    await kill(3);
    await nextRound();
    const nonce = await operatorNonce();
    const before = await query();
    const withTwo = await postDataRequest(devnet, request());
    expect(withTwo.status).toBe(503);
    expect(withTwo.answer.code).toBe("no_quorum");
    for (const index of [1, 3]) expect(withTwo.answer.detail).toContain(devnet.providers[index]?.address);
    for (const index of [0, 2]) expect(withTwo.answer.detail).not.toContain(devnet.providers[index]?.address);
    expect(withTwo.answer.detail).toContain("ECONNREFUSED");
    expect(await operatorNonce()).toBe(nonce);
    expect(await query()).toEqual(before);

    const again = [1, 3].map((index) => {
      const command = devnet.providers[index]?.command ?? "";
      expect(devnet.output()).toContain(command);
      return execFile("sh", ["-c", `exec env ${command}`], { cwd: ROOT });
    });
    try {
      const reports = async () => (await postDataRequest(devnet, request())).answer.reports?.length;
      await expect.poll(reports, { timeout: 60_000, interval: 500 }).toBe(4);
    } finally {
      for (const child of again) child.kill("SIGTERM");
    }
  });
});

test("the operator's end prints the command that starts it again", async () => {
  const { url, pid, command } = devnet.operator;
  killIfRunning(pid, "SIGTERM");
  await expect.poll(devnet.output, { timeout: 20_000 }).toContain(`:\n  ${command}\n`);
  expect(await chain.getChainId()).toBe(42);

  const again = execFile("sh", ["-c", `exec env ${command}`], { cwd: ROOT });
  try {
    const health = async () => (await fetch(`${url}/ready`).catch(() => null))?.json();
    const canSend = { networks: [{ network_id: 42, rpc: true, broadcasting: "ok" }] };
    await expect.poll(health, { timeout: 60_000, interval: 500 }).toMatchObject(canSend);
  } finally {
    again.kill("SIGTERM");
  }
}, 90_000);

test("accounts 5 and 6 are untouched", async () => {
  // The devnet uses none of the last five. The tests above use the other three.
  for (const address of [accounts[5], accounts[6]]) {
    expect(await chain.getTransactionCount({ address })).toBe(0);
    expect(await chain.getBalance({ address })).toBe(parseEther("10000"));
  }
});

test("the dataset's owner, limits, price and providers are those of the committed settings", async () => {
  const { financial } = SETTINGS;
  const read = <T extends "owner" | "priceCeiling" | "maxRoundAge">(functionName: T) =>
    chain.readContract({ address: devnet.dataset, abi: datasetAbi, functionName });
  expect(await read("owner")).toBe(financial.owner);
  expect(await read("priceCeiling")).toBe(BigInt(financial.priceCeiling));
  expect(await read("maxRoundAge")).toBe(BigInt(financial.maxRoundAge));
  expect(devnet.queryPrice).toBe(financial.queryPrice);
  expect(devnet.providers.map(({ address }) => address)).toEqual(financial.members);
});
