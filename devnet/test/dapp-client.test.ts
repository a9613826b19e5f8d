import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import {
  DataRequestError,
  type DataRequestProblem,
  fetchUpdate,
  formatSpotPrice,
  InsufficientBalanceError,
  NoAccountError,
  QUERY_STATUSES,
  readQueryPrice,
  requestUpdate,
  sendUpdate,
  simulateQuery,
  spotPriceKey,
  type UpdateProgress,
  WrongChainError,
  writeContractWithUpdate,
} from "@dataset-oracle/protocol";
import {
  type Account,
  type Address,
  type Client,
  ContractFunctionRevertedError,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  http,
  parseAbi,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Devnet, freePortOptions, startDevnet } from "./devnet-process.js";

/** Two unlocked accounts of the chain, with their development keys, that the devnet does not use. */
const CALLER = privateKeyToAccount(deriveAccount(8).privateKey);
const OTHER = privateKeyToAccount(deriveAccount(9).privateKey);
const PENNILESS: Address = "0x00000000000000000000000000000000000A11cE";

/** test/examples/SpotPriceConsumer.sol */
const CONSUMER_ABI = parseAbi([
  "function refresh()",
  "function refreshWith(bytes update)",
  "function price() view returns (uint256)",
  "error BadQueryStatus(uint8 status)",
  "error DataExpired(uint256 age, uint256 maxAge)",
]);

let devnet: Devnet;
let client: ReturnType<typeof connect>;

const connect = (url: string) => createPublicClient({ transport: http(url), pollingInterval: 100 });

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  client = connect(devnet.chain);
}, 130_000);

afterAll(() => devnet?.interrupt());

const ask = <B extends boolean>(broadcast: B, pair = "ETH-USD") =>
  ({ url: devnet.operator.url, networkId: 42, dataset: devnet.dataset, key: `SPOTPX/${pair}`, broadcast }) as const;

const read = (pair: string, account?: Address) =>
  simulateQuery(client, { dataset: devnet.dataset, key: spotPriceKey(pair), ...(account && { account }) });

describe("an off-chain read", () => {
  test("returns the price of a query", async () => {
    expect(await readQueryPrice(client, devnet)).toBe(BigInt(devnet.queryPrice));
    expect(BigInt(devnet.queryPrice)).toBeGreaterThan(0n);
  });

  test("returns no data at first, then the value that an update stored, without an account", async () => {
    const none = { status: "NOT_AVAILABLE", value: 0n, output: `0x${"00".repeat(32)}`, updatedAt: 0n };
    expect(await read("BTC-USD")).toEqual(none);
    const { transactionHash, status, value, output, updatedAt } = await requestUpdate({
      ...ask(true, "BTC-USD"),
      wait: 20,
    });
    expect(transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    const stored = await read("BTC-USD");
    expect(stored).toEqual({ status, value, output, updatedAt });
    expect(stored.status).toBe("OK");
    expect(Number(formatSpotPrice(stored.value))).toBeCloseTo(Number(stored.value) / 1e18);
    expect(Number(formatSpotPrice(stored.value))).toBeGreaterThan(1);
  });

  test("says that a key is invalid, and refuses one that cannot be read", async () => {
    expect(await simulateQuery(client, { dataset: devnet.dataset, key: "ETH-USD" })).toMatchObject({
      status: "INVALID",
    });
    await expect(simulateQuery(client, { dataset: devnet.dataset, key: "0x5" })).rejects.toThrow("odd number");
  });

  test("is made from an account that holds the price, which keeps it", async () => {
    const before = await client.getBalance(CALLER);
    expect(await read("DOGE-USD", CALLER.address)).toMatchObject({ status: "NOT_AVAILABLE" });
    expect(await client.getBalance(CALLER)).toBe(before);
  });

  test("names the price that an account cannot pay", async () => {
    const error = await read("DOGE-USD", PENNILESS).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InsufficientBalanceError);
    expect(error).toMatchObject({ account: PENNILESS, price: BigInt(devnet.queryPrice) });
  });
});

describe("an update request", () => {
  test("shows its progress up to the mined transaction", async () => {
    const heard: UpdateProgress[] = [];
    const update = await requestUpdate({ ...ask(true, "SOL-USD"), onProgress: (step) => heard.push(step) });
    const names = heard.map(({ event }) => event);
    expect(names).toEqual(["asked", ...Array(4).fill("report"), "signed", "sent", "mined"]);
    expect(heard.at(4)).toMatchObject({ event: "report", outcome: "OK", received: 4, of: 4 });
    const receipt = await client.getTransactionReceipt({ hash: update.transactionHash ?? "0x" });
    expect(heard.at(-1)).toEqual({
      event: "mined",
      transaction_hash: update.transactionHash,
      block_number: Number(receipt.blockNumber),
    });
    expect(update.reports.map(({ provider }) => provider).toSorted()).toEqual(
      devnet.providers.map(({ address }) => address).toSorted(),
    );
  });

  test.each<[string, object, Partial<DataRequestProblem>]>([
    ["an unknown network", { networkId: 1 }, { code: "unknown_network", served_network_ids: [42] }],
    ["an unknown dataset", { dataset: PENNILESS }, { code: "unknown_dataset", status: 404 }],
    ["an invalid key", { key: "ETH-USD" }, { code: "invalid_key" }],
    ["an unknown key", { key: "SPOTPX/NOT-THERE" }, { code: "unknown_key" }],
    ["malformed hex", { key: "0x5" }, { code: "invalid_body" }],
    ["an unknown path", { url: "/elsewhere" }, { code: "no_such_path" }],
  ])("fails with the operator's problem for %s", async (_, change, problem) => {
    const asked = { ...ask(true), ...change };
    const url = asked.url.startsWith("/") ? devnet.operator.url + asked.url : asked.url;
    const error = await requestUpdate({ ...asked, url }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DataRequestError);
    expect(error.problem).toMatchObject(problem);
  });
});

const local = (account = CALLER) =>
  createWalletClient({ account, transport: http(devnet.chain), pollingInterval: 100 });

describe("an update sent by the caller", () => {
  /** A browser's wallet holds the account's key itself. */
  const wallet = (request: EIP1193RequestFn, account?: Address) =>
    createWalletClient({ ...(account && { account }), transport: custom({ request }), pollingInterval: 100 });

  test("from a local account stores the value of the answer", async () => {
    const nonce = await client.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" });
    const { transaction, ...update } = await requestUpdate(ask(false, "XRP-USD"));
    const { hash, receipt, isStored } = await sendUpdate(local(), { transaction });
    expect(isStored).toBe(true);
    expect(receipt).toMatchObject({ status: "success", transactionHash: hash, to: devnet.dataset.toLowerCase() });
    const { status, value, output, updatedAt } = update;
    expect(await read("XRP-USD")).toEqual({ status, value, output, updatedAt });
    expect(await client.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" })).toBe(nonce);
  });

  test("from a browser's wallet does too, and changes nothing the second time", async () => {
    const { transaction, updatedAt } = await requestUpdate(ask(false, "ADA-USD"));
    const walletClient = wallet(client.request as EIP1193RequestFn);
    const reported: string[] = [];
    const onSent = (hash: string) => reported.push(hash);
    const sent = await sendUpdate(walletClient, { transaction, account: CALLER.address, onSent });
    expect(reported).toEqual([sent.hash]);
    expect(sent.receipt).toMatchObject({ status: "success", from: CALLER.address.toLowerCase() });
    expect((await read("ADA-USD")).updatedAt).toBe(updatedAt);
    expect(await sendUpdate(local(), { transaction })).toMatchObject({
      receipt: { status: "success" },
      isStored: false,
    });
  });

  test("is not sent on another chain, nor without an account", async () => {
    const { transaction } = await requestUpdate(ask(false, "LTC-USD"));
    const nonce = await client.getTransactionCount(CALLER);
    const elsewhere = (async ({ method }) =>
      method === "eth_chainId" ? "0x1" : expect.fail(method)) as EIP1193RequestFn;
    const error = await sendUpdate(wallet(elsewhere, CALLER.address), { transaction }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(WrongChainError);
    expect(error).toMatchObject({ chainId: 1, expected: 42 });
    await expect(sendUpdate(wallet(elsewhere), { transaction })).rejects.toThrow(NoAccountError);
    expect(await client.getTransactionCount(CALLER)).toBe(nonce);
  });
});

describe("a fetched update", () => {
  const wanted = () => {
    const { broadcast: _, ...rest } = ask(false, "DOT-USD");
    return rest;
  };

  test("is the calldata that stores its value, from the first operator that answers", async () => {
    const { url, ...dataPoint } = wanted();
    const update = await fetchUpdate({ ...dataPoint, url: ["http://127.0.0.1:1", `${url}/elsewhere`, url] });
    const hash = await local().sendTransaction({ to: devnet.dataset, data: update.data, chain: null });
    await client.waitForTransactionReceipt({ hash });
    const { status, value, output, updatedAt } = update;
    expect(await read("DOT-USD")).toEqual({ status, value, output, updatedAt });
  });

  test("that no operator has fails with the reason of the last one", async () => {
    const request = fetchUpdate({ ...wanted(), key: "SPOTPX/NOT-THERE", url: ["http://127.0.0.1:1", wanted().url] });
    await expect(request).rejects.toMatchObject({ name: "DataRequestError", problem: { code: "unknown_key" } });
  });

  test("is fetched from nobody else once the caller has given up", async () => {
    const signal = AbortSignal.abort(new Error("The page was left."));
    const request = fetchUpdate({ ...wanted(), url: ["http://127.0.0.1:1", wanted().url], signal });
    await expect(request).rejects.toThrow("The page was left.");
  });
});

describe("a fresh value in the caller's own transaction", () => {
  const point = (key: string) => ({ url: devnet.operator.url, dataset: devnet.dataset, key });
  const contract = () => ({ address: devnet.consumer, abi: CONSUMER_ABI, update: point("SPOTPX/ETH-USD") }) as const;
  const refresh = (walletClient: Client, key = "SPOTPX/ETH-USD", account?: Account | Address) =>
    writeContractWithUpdate(walletClient, {
      ...contract(),
      functionName: "refreshWith",
      args: (update) => [update],
      update: point(key),
      ...(account && { account }),
    });

  /** An update of the stored round would store nothing. A round begins two seconds after its time. */
  const waitForNewRound = async () => {
    const { updatedAt } = await read("ETH-USD");
    await vi.waitUntil(() => Date.now() / 1_000 >= Number(updatedAt) + 3, { timeout: 5_000 });
  };

  test("is not sent when the contract would revert, which says why, nor without an account", async () => {
    const nonce = await client.getTransactionCount(CALLER);
    const error = await refresh(local(), "SPOTPX/LINK-USD").catch((thrown) => thrown);
    // The contract reads ETH-USD, which was never updated.
    expect(error.walk((cause: Error) => cause instanceof ContractFunctionRevertedError)).toMatchObject({
      data: { errorName: "BadQueryStatus", args: [QUERY_STATUSES.indexOf("NOT_AVAILABLE")] },
    });
    const noAccount = createWalletClient({ transport: http(devnet.chain) });
    await expect(refresh(noAccount)).rejects.toThrow(NoAccountError);
    expect(await client.getTransactionCount(CALLER)).toBe(nonce);
  });

  test("is stored and read in one transaction, also where the stored value is fresh enough", async () => {
    for (const account of [CALLER, CALLER.address]) {
      await waitForNewRound();
      const hash = await refresh(local(), "SPOTPX/ETH-USD", account);
      const { status, logs } = await client.waitForTransactionReceipt({ hash });
      expect(status).toBe("success");
      // The dataset's events, then the consumer's.
      const contracts = [devnet.dataset, devnet.consumer].map((address) => address.toLowerCase());
      expect([...new Set(logs.map(({ address }) => address))]).toEqual(contracts);
      const price = await client.readContract({ address: devnet.consumer, abi: CONSUMER_ABI, functionName: "price" });
      const stored = await read("ETH-USD");
      expect(stored).toMatchObject({ status: "OK", value: price });
    }
  });

  test("gets enough gas, although another sender's pending update lowers the estimate", async () => {
    await waitForNewRound();
    const { key, url, ...dataPoint } = point("SPOTPX/ETH-USD");
    const body = JSON.stringify({ network_id: 42, dataset: dataPoint.dataset, key, broadcast: false });
    const headers = { "content-type": "application/json" };
    // An operator asked twice may answer with two rounds: both senders get the answer of one request.
    const answer = await (await fetch(`${url}/data/request`, { method: "POST", headers, body })).text();
    const operator = createServer((_, response) => response.writeHead(200, headers).end(answer)).listen(0, "127.0.0.1");
    await once(operator, "listening");
    const update = { ...dataPoint, key, url: `http://127.0.0.1:${(operator.address() as AddressInfo).port}` };
    const chain = createTestClient({ mode: "anvil", transport: http(devnet.chain) });
    await chain.setIntervalMining({ interval: 0 });
    try {
      const { transaction } = await fetchUpdate({ ...update, networkId: 42 });
      const pending = await local(OTHER).sendTransaction({ ...transaction, chain: null });
      const hash = await writeContractWithUpdate(local(), {
        ...contract(),
        functionName: "refreshWith",
        args: (bytes) => [bytes],
        update,
      });
      const { gas } = await client.getTransaction({ hash });
      // The other transaction may be mined after this one, or never.
      await chain.dropTransaction({ hash: pending });
      await chain.mine({ blocks: 1 });
      const { status, gasUsed } = await client.getTransactionReceipt({ hash });
      expect(status).toBe("success");
      expect(gasUsed).toBeGreaterThan(gas - transaction.gas);
    } finally {
      await chain.setIntervalMining({ interval: 1 });
      operator.close();
    }
  });

  test("has arguments of the types that the contract's ABI gives", () => {
    const noSuchFunction = () =>
      // @ts-expect-error The contract has no such function.
      writeContractWithUpdate(local(), { ...contract(), functionName: "refreshAll", args: (update) => [update] });
    const wrongArguments = () =>
      // @ts-expect-error The update is the only argument.
      writeContractWithUpdate(local(), { ...contract(), functionName: "refreshWith", args: (update) => [update, 1n] });
    expect([noSuchFunction, wrongArguments]).toHaveLength(2);
  });
});
