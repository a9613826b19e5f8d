import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import {
  DataRequestError,
  type DataRequestProblem,
  fetchUpdate,
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
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  http,
  numberToHex,
  parseAbi,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test, vi } from "vitest";
import type { OneDevnet } from "../one-devnet.js";

/** An unlocked account of the chain, with its development key, that the devnet does not use. */
const CALLER = privateKeyToAccount(deriveAccount(8).privateKey);
const PENNILESS: Address = "0x00000000000000000000000000000000000A11cE";

/** test/examples/SpotPriceConsumer.sol */
const CONSUMER_ABI = parseAbi([
  "function refresh()",
  "function refreshWith(bytes update)",
  "function price() view returns (uint256)",
  "error BadQueryStatus(uint8 status)",
  "error DataExpired(uint256 age, uint256 maxAge)",
]);

/** Tests the client that dapps install with the devnet's operator and chain. Its own units test it without them. */
export function dappClientTests(one: () => OneDevnet): void {
  const ask = <B extends boolean>(broadcast: B, pair: string) => {
    const { devnet } = one();
    const key = `SPOTPX/${pair}`;
    return { url: devnet.operator.url, networkId: 42, dataset: devnet.dataset, key, broadcast } as const;
  };
  const read = (pair: string, account?: Address) =>
    simulateQuery(one().chain, { dataset: one().devnet.dataset, key: spotPriceKey(pair), ...(account && { account }) });
  const local = (request?: EIP1193RequestFn) => {
    const transport = request === undefined ? http(one().devnet.chain) : custom({ request });
    return createWalletClient({ account: CALLER, transport, pollingInterval: 100 });
  };
  const rpc: EIP1193RequestFn = (call) => one().chain.request(call as never);

  test("reads nothing at first, then the value that an update stored, without an account", async () => {
    const { devnet, chain } = one();
    expect(await readQueryPrice(chain, devnet)).toBe(BigInt(devnet.queryPrice));
    const none = { status: "NOT_AVAILABLE", value: 0n, output: `0x${"00".repeat(32)}`, updatedAt: 0n };
    expect(await read("BCH-USD")).toEqual(none);
    const update = await requestUpdate({ ...ask(true, "BCH-USD"), wait: 20 });
    const { status, value, output, updatedAt } = update;
    expect(await read("BCH-USD")).toEqual({ status, value, output, updatedAt });
    expect(status).toBe("OK");
  });

  test("reads from an account that holds the price, which keeps it, and names the price to one that does not", async () => {
    const { devnet, chain } = one();
    const before = await chain.getBalance(CALLER);
    expect(await read("DOGE-USD", CALLER.address)).toMatchObject({ status: "NOT_AVAILABLE" });
    expect(await chain.getBalance(CALLER)).toBe(before);
    const error = await read("DOGE-USD", PENNILESS).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InsufficientBalanceError);
    expect(error).toMatchObject({ account: PENNILESS, price: BigInt(devnet.queryPrice) });
  });

  test("hears the progress of a request up to the mined transaction", async () => {
    const { devnet, chain } = one();
    const heard: UpdateProgress[] = [];
    const update = await requestUpdate({ ...ask(true, "SOL-USD"), onProgress: (step) => heard.push(step) });
    const reports = heard.filter(({ event }) => event === "report");
    // On a busy machine, a provider's report can come too late.
    expect(reports.length).toBeGreaterThanOrEqual(3);
    expect(heard.map(({ event }) => event)).toEqual([
      "asked",
      ...reports.map(() => "report"),
      "signed",
      "sent",
      "mined",
    ]);
    expect(reports.at(-1)).toMatchObject({ outcome: "OK", received: reports.length, of: 4 });
    const receipt = await chain.getTransactionReceipt({ hash: update.transactionHash ?? "0x" });
    expect(heard.at(-1)).toEqual({
      event: "mined",
      transaction_hash: update.transactionHash,
      block_number: Number(receipt.blockNumber),
    });
    const providers = devnet.providers.map(({ address }) => address);
    expect(providers).toEqual(expect.arrayContaining(update.reports.map(({ provider }) => provider)));
  });

  test.each<[string, object, Partial<DataRequestProblem>]>([
    ["an unknown network", { networkId: 1 }, { code: "unknown_network", served_network_ids: [42] }],
    ["an unknown dataset", { dataset: PENNILESS }, { code: "unknown_dataset", status: 404 }],
    ["an unknown key", { key: "SPOTPX/NOT-THERE" }, { code: "unknown_key" }],
  ])("fails with the operator's problem for %s", async (_, change, problem) => {
    const error = await requestUpdate({ ...ask(true, "ETH-USD"), ...change }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DataRequestError);
    expect(error.problem).toMatchObject(problem);
  });

  test("sends an update itself, from a local account or a browser's wallet, and nothing is stored twice", async () => {
    const { devnet, chain } = one();
    const nonce = await chain.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" });
    const { transaction, ...update } = await requestUpdate(ask(false, "XRP-USD"));
    const { hash, receipt, isStored } = await sendUpdate(local(), { transaction });
    expect(isStored).toBe(true);
    expect(receipt).toMatchObject({ status: "success", transactionHash: hash, to: devnet.dataset.toLowerCase() });
    const { status, value, output, updatedAt } = update;
    expect(await read("XRP-USD")).toEqual({ status, value, output, updatedAt });

    // It holds the account's key itself.
    const wallet = createWalletClient({ transport: custom({ request: rpc }), pollingInterval: 100 });
    const reported: string[] = [];
    const onSent = (sentHash: string) => reported.push(sentHash);
    const sent = await sendUpdate(wallet, { transaction, account: CALLER.address, onSent });
    expect(reported).toEqual([sent.hash]);
    expect(sent).toMatchObject({ receipt: { status: "success" }, isStored: false });
    expect(await chain.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" })).toBe(nonce);
  });

  test("sends no update on another chain, nor without an account", async () => {
    const { chain } = one();
    const { transaction } = await requestUpdate(ask(false, "LTC-USD"));
    const nonce = await chain.getTransactionCount(CALLER);
    const elsewhere = (async ({ method }) =>
      method === "eth_chainId" ? "0x1" : expect.fail(method)) as EIP1193RequestFn;
    const error = await sendUpdate(local(elsewhere), { transaction }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(WrongChainError);
    expect(error).toMatchObject({ chainId: 1, expected: 42 });
    const nobody = createWalletClient({ transport: custom({ request: elsewhere }) });
    await expect(sendUpdate(nobody, { transaction })).rejects.toThrow(NoAccountError);
    expect(await chain.getTransactionCount(CALLER)).toBe(nonce);
  });

  test("fetches an update from the first operator that answers, and none once the caller has given up", async () => {
    const { broadcast: _, url, ...point } = ask(false, "DOT-USD");
    const update = await fetchUpdate({ ...point, url: ["http://127.0.0.1:1", `${url}/elsewhere`, url] });
    const { chain } = one();
    const hash = await local().sendTransaction({ to: point.dataset, data: update.data, chain: null });
    await chain.waitForTransactionReceipt({ hash });
    const { status, value, output, updatedAt } = update;
    expect(await read("DOT-USD")).toEqual({ status, value, output, updatedAt });
    const signal = AbortSignal.abort(new Error("The page was left."));
    const request = fetchUpdate({ ...point, url: ["http://127.0.0.1:1", url], signal });
    await expect(request).rejects.toThrow("The page was left.");
  });

  describe("a fresh value in the caller's own transaction", () => {
    const contract = () =>
      ({ address: one().devnet.consumer, abi: CONSUMER_ABI, functionName: "refreshWith" }) as const;
    const refresh = (walletClient: Client, key = "SPOTPX/ETH-USD", account?: Account | Address) =>
      writeContractWithUpdate(walletClient, {
        ...contract(),
        args: (update) => [update],
        update: { url: one().devnet.operator.url, dataset: one().devnet.dataset, key },
        ...(account && { account }),
      });

    /** An update of the stored round would store nothing. A round begins two seconds after its time. */
    const waitForNewRound = async () => {
      const { updatedAt } = await read("ETH-USD");
      await vi.waitUntil(() => Date.now() / 1_000 >= Number(updatedAt) + 3, { timeout: 5_000 });
    };

    test("is not sent when the contract would revert, which says why, nor without an account", async () => {
      const { devnet, chain } = one();
      const nonce = await chain.getTransactionCount(CALLER);
      const error = await refresh(local(), "SPOTPX/LINK-USD").catch((thrown) => thrown);
      // The contract reads ETH-USD, which was never updated.
      expect(error.walk((cause: Error) => cause instanceof ContractFunctionRevertedError)).toMatchObject({
        data: { errorName: "BadQueryStatus", args: [QUERY_STATUSES.indexOf("NOT_AVAILABLE")] },
      });
      const noAccount = createWalletClient({ transport: http(devnet.chain) });
      await expect(refresh(noAccount)).rejects.toThrow(NoAccountError);
      expect(await chain.getTransactionCount(CALLER)).toBe(nonce);
    });

    test("is stored and read in one transaction, also where the stored value is fresh enough", async () => {
      const { devnet, chain } = one();
      for (const account of [CALLER, CALLER.address]) {
        await waitForNewRound();
        const hash = await refresh(local(), "SPOTPX/ETH-USD", account);
        const { status, logs } = await chain.waitForTransactionReceipt({ hash });
        expect(status).toBe("success");
        // The dataset's events, then the consumer's.
        const contracts = [devnet.dataset, devnet.consumer].map((address) => address.toLowerCase());
        expect([...new Set(logs.map(({ address }) => address))]).toEqual(contracts);
        const price = await chain.readContract({ address: devnet.consumer, abi: CONSUMER_ABI, functionName: "price" });
        expect(await read("ETH-USD")).toMatchObject({ status: "OK", value: price });
      }
    });

    test("gets enough gas, although another sender's pending update lowers the estimate", async () => {
      const { chain } = one();
      await waitForNewRound();
      // A node estimates the cost of a call that finds the update stored by the pending transaction.
      const estimate = 70_000n;
      const lowered = ((call) =>
        call.method === "eth_estimateGas" ? Promise.resolve(numberToHex(estimate)) : rpc(call)) as EIP1193RequestFn;
      const hash = await refresh(local(lowered));
      const { status, gasUsed } = await chain.waitForTransactionReceipt({ hash });
      expect(status).toBe("success");
      expect(gasUsed).toBeGreaterThan(estimate);
    });

    test("has arguments of the types that the contract's ABI gives", () => {
      const update = { url: "", dataset: PENNILESS, key: "" };
      const noSuchFunction = () =>
        // @ts-expect-error The contract has no such function.
        writeContractWithUpdate(local(), { ...contract(), functionName: "refreshAll", args: () => ["0x"], update });
      const wrongArguments = () =>
        // @ts-expect-error The update is the only argument.
        writeContractWithUpdate(local(), { ...contract(), args: (bytes) => [bytes, 1n], update });
      expect([noSuchFunction, wrongArguments]).toHaveLength(2);
    });
  });
}
