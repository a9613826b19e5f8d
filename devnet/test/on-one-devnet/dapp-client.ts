import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import {
  InsufficientBalanceError,
  NoAccountError,
  QUERY_STATUSES,
  requestUpdate,
  sendUpdate,
  simulateQuery,
  spotPriceKey,
  WrongChainError,
  writeContractWithUpdate,
} from "@dataset-oracle/protocol";
import {
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
import { expect, test } from "vitest";
import type { OneDevnet } from "../one-devnet.js";

/** An unlocked account of the chain, with its development key, that the devnet does not use. */
const CALLER = privateKeyToAccount(deriveAccount(8).privateKey);
const PENNILESS: Address = "0x00000000000000000000000000000000000A11cE";

/** test/examples/SpotPriceConsumer.sol */
const CONSUMER_ABI = parseAbi(["function refreshWith(bytes update)", "error BadQueryStatus(uint8 status)"]);

/**
 * Tests what the client that dapps install does with a wallet and a chain. Its own units test what it makes of answers,
 * and the documents' programs use the rest of it.
 */
export function dappClientTests(one: () => OneDevnet): void {
  const askFor = (pair: string) => {
    const { devnet } = one();
    const key = `SPOTPX/${pair}`;
    return { url: devnet.operator.url, networkId: 42, dataset: devnet.dataset, key, broadcast: false } as const;
  };
  const read = (pair: string, account?: Address) =>
    simulateQuery(one().chain, { dataset: one().devnet.dataset, key: spotPriceKey(pair), ...(account && { account }) });
  const rpc: EIP1193RequestFn = (call) => one().chain.request(call as never);
  const local = (request = rpc) =>
    createWalletClient({ account: CALLER, transport: custom({ request }), pollingInterval: 100 });
  const refresh = (walletClient: Client, key = "SPOTPX/ETH-USD") => {
    const { consumer: address, operator, dataset } = one().devnet;
    return writeContractWithUpdate(walletClient, {
      address,
      abi: CONSUMER_ABI,
      functionName: "refreshWith",
      args: (update) => [update],
      update: { url: operator.url, dataset, key },
    });
  };

  test("an update in the caller's own transaction is not sent when the contract would revert, nor without an account", async () => {
    const { devnet, chain } = one();
    const nonce = await chain.getTransactionCount(CALLER);
    const error = await refresh(local(), "SPOTPX/LINK-USD").catch((thrown) => thrown);
    // The contract reads ETH-USD, which was never updated.
    expect(error.walk((cause: Error) => cause instanceof ContractFunctionRevertedError)).toMatchObject({
      data: { errorName: "BadQueryStatus", args: [QUERY_STATUSES.indexOf("NOT_AVAILABLE")] },
    });
    await expect(refresh(createWalletClient({ transport: http(devnet.chain) }))).rejects.toThrow(NoAccountError);
    expect(await chain.getTransactionCount(CALLER)).toBe(nonce);
  });

  test("it gets enough gas, although another sender's pending update lowers the estimate", async () => {
    // A node estimates the cost of a call that finds the update stored by the pending transaction.
    const estimate = 70_000n;
    const lowered = ((call) =>
      call.method === "eth_estimateGas" ? Promise.resolve(numberToHex(estimate)) : rpc(call)) as EIP1193RequestFn;
    const hash = await refresh(local(lowered));
    const { status, gasUsed } = await one().chain.waitForTransactionReceipt({ hash });
    expect(status).toBe("success");
    expect(gasUsed).toBeGreaterThan(estimate);
  });

  test("an account that holds the price reads and keeps it, and one that does not is told the price", async () => {
    const { devnet, chain } = one();
    const before = await chain.getBalance(CALLER);
    expect(await read("DOGE-USD", CALLER.address)).toMatchObject({ status: "NOT_AVAILABLE" });
    expect(await chain.getBalance(CALLER)).toBe(before);
    const error = await read("DOGE-USD", PENNILESS).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InsufficientBalanceError);
    expect(error).toMatchObject({ account: PENNILESS, price: BigInt(devnet.queryPrice) });
  });

  test("an update is sent from a local account or a browser's wallet, and nothing is stored twice", async () => {
    const { devnet, chain } = one();
    const nonce = await chain.getTransactionCount({ address: devnet.operator.address, blockTag: "pending" });
    const { transaction, ...update } = await requestUpdate(askFor("XRP-USD"));
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

  test("no update is sent on another chain, nor without an account", async () => {
    const { chain } = one();
    const { transaction } = await requestUpdate(askFor("LTC-USD"));
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
}
