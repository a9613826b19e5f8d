import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Process, readyOrClosed, startProcess } from "@dataset-oracle/devnet/start-process";
import { clientOf, type TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import {
  requestUpdate,
  sendUpdate,
  simulateQuery,
  spotPriceKey,
  writeContractWithUpdate,
} from "@dataset-oracle/protocol";
import {
  type Address,
  createWalletClient,
  custom,
  encodeFunctionData,
  type Hash,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
} from "viem";
import { entryPoint06Abi, getUserOperationHash } from "viem/account-abstraction";
import { english, generateMnemonic, generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Devnet, freePortOptions, startDevnet } from "../devnet/test/devnet-process.js";
import { installWallet } from "../operator/page/test/support/fake-wallet.js";
import { launchBrowser } from "../operator/page/test/support/launch-browser.js";
import { hasBrowser } from "../operator/page/test/support/skip-without-browser.js";
import { formOf, pressUntil, visit } from "../operator/page/test/support/visit.js";

// A smart account (ERC-4337) of eth-infinitism, with its entry point, and the bundler that MetaMask tests with, which is
// a fork of eth-infinitism's: a bundler's transaction goes to the entry point, which has the account call.

const load = createRequire(import.meta.url);
const artifact = (name: string) =>
  load(`@account-abstraction/contracts/artifacts/${name}.json`) as { readonly bytecode: Hex };
const ACCOUNT_ABI = parseAbi(["function execute(address to, uint256 value, bytes data)"]);
const FACTORY_ABI = parseAbi([
  "constructor(address entryPoint)",
  "function createAccount(address owner, uint256 salt) returns (address)",
]);

type Call = { readonly to: Address; readonly data?: Hex; readonly value?: Hex };

let devnet: Devnet;
let chain: TestChainClient;
let bundler: Process;
let entryPoint: Address;
let account: Address;
/** Does what the account's wallet does: has the bundler send a call, and returns the hash of the bundler's transaction. */
let send: (call: Call) => Promise<Hash>;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
  chain = clientOf(devnet.chain);
  const payer = (await chain.getAddresses())[0] as Address;
  const deploy = async (name: string, args: readonly [] | readonly [Address]) => {
    const content = { abi: FACTORY_ABI, bytecode: artifact(name).bytecode, args, account: payer };
    const hash = await chain.deployContract(content as never);
    return (await chain.waitForTransactionReceipt({ hash })).contractAddress as Address;
  };
  entryPoint = await deploy("EntryPoint", []);
  const owner = privateKeyToAccount(generatePrivateKey());
  const create = {
    address: await deploy("SimpleAccountFactory", [entryPoint]),
    ...({ abi: FACTORY_ABI, functionName: "createAccount", args: [owner.address, 0n], account: payer } as const),
  };
  account = (await chain.simulateContract(create)).result;
  await chain.waitForTransactionReceipt({ hash: await chain.writeContract(create) });
  await chain.setBalance({ address: account, value: parseEther("10") });
  const url = await startBundler();
  const ask = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(error.message);
    return result;
  };
  const nonceOf = { address: entryPoint, abi: entryPoint06Abi, functionName: "getNonce", args: [account, 0n] } as const;
  send = async ({ to, data = "0x", value = "0x0" }) => {
    const operation = {
      ...{ sender: account, nonce: await chain.readContract(nonceOf) },
      ...({ initCode: "0x", paymasterAndData: "0x", signature: "0x" } as const),
      callData: encodeFunctionData({ abi: ACCOUNT_ABI, functionName: "execute", args: [to, hexToBigInt(value), data] }),
      ...{ callGasLimit: 2_000_000n, verificationGasLimit: 200_000n, preVerificationGas: 100_000n },
      ...{ maxFeePerGas: parseGwei("10"), maxPriorityFeePerGas: parseGwei("1") },
    };
    const about = { chainId: 42, entryPointAddress: entryPoint, entryPointVersion: "0.6" } as const;
    const hash = getUserOperationHash({ ...about, userOperation: operation });
    const signature = await owner.signMessage({ message: { raw: hash } });
    const entries = Object.entries({ ...operation, signature });
    const inHex = entries.map(([name, field]) => [name, typeof field === "bigint" ? numberToHex(field) : field]);
    // The bundler asks for the blocks after its last one, and anvil refuses that while there is none.
    await chain.mine({ blocks: 1 });
    expect(await ask("eth_sendUserOperation", [Object.fromEntries(inHex), entryPoint])).toBe(hash);
    const receipt = () => ask<{ receipt: { transactionHash: Hash } } | null>("eth_getUserOperationReceipt", [hash]);
    await expect.poll(receipt).not.toBeNull();
    return (await receipt())?.receipt.transactionHash as Hash;
  };
});
afterAll(() => Promise.all([bundler?.close(), devnet?.interrupt()]));

/** Returns a program that starts the bundler. The package of its contracts does not say that it needs ethers 5. */
function startingProgram(configFile: string): string {
  const ethers = createRequire(load.resolve("@metamask/test-bundler")).resolve("ethers");
  // With `unsafe` it needs no tracer, which anvil does not have.
  return `const Module = require("node:module");
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...rest) => resolve(name === "ethers" ? "${ethers}" : name, ...rest);
    const { startBundler } = require("${load.resolve("@metamask/test-bundler")}");
    startBundler({ configFile: "${configFile}", unsafe: true });`;
}

/** Starts the bundler, and returns its URL. */
async function startBundler(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bundler-"));
  const mnemonic = generateMnemonic(english);
  const beneficiary = mnemonicToAccount(mnemonic).address;
  await chain.setBalance({ address: beneficiary, value: parseEther("10") });
  writeFileSync(join(folder, "mnemonic"), mnemonic);
  const port = String(await freePort());
  const config = {
    ...{ autoBundleInterval: 3_600, autoBundleMempoolSize: 1, maxBundleGas: 5_000_000, minBalance: "0" },
    ...{ beneficiary, entryPoint, mnemonic: join(folder, "mnemonic"), network: devnet.chain, port },
  };
  writeFileSync(join(folder, "config"), JSON.stringify(config));
  const url = `http://127.0.0.1:${port}/rpc`;
  bundler = await startProcess({
    name: "the bundler",
    command: process.execPath,
    args: ["--eval", startingProgram(join(folder, "config"))],
    logFile: join(folder, "log"),
    isReady: () =>
      fetch(url.replace(/rpc$/, "")).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  await readyOrClosed(bundler);
  return url;
}

describe("the update of a smart account", () => {
  /** A wallet client whose wallet holds the account. */
  const wallet = () =>
    createWalletClient({
      account,
      pollingInterval: 100,
      transport: custom({
        request: ({ method, params }: { method: string; params: [Call] }) =>
          method === "eth_sendTransaction" ? send(params[0]) : chain.request({ method, params } as never),
      }),
    });

  test("is found by the client in the bundler's transaction", async () => {
    const data = { dataset: devnet.dataset, key: "SPOTPX/ETH-USD" };
    const { transaction, updatedAt } = await requestUpdate({
      ...{ url: devnet.operator.url, networkId: 42, ...data, broadcast: false },
    });
    const { isStored, receipt } = await sendUpdate(wallet(), { transaction });
    expect([isStored, receipt.status, receipt.to?.toLowerCase()]).toEqual([true, "success", entryPoint.toLowerCase()]);
    expect((await simulateQuery(chain, { ...data, key: spotPriceKey("ETH-USD") })).updatedAt).toBe(updatedAt);
  });

  test("is read by a contract in the same transaction", async () => {
    const { consumer, dataset, operator } = devnet;
    const abi = parseAbi(["function refreshWith(bytes update)", "event PriceRead(uint256 price)"]);
    const hash = await writeContractWithUpdate(wallet(), {
      ...{ address: consumer, abi, functionName: "refreshWith", args: (update) => [update] as const },
      update: { url: operator.url, dataset, key: "SPOTPX/ETH-USD" },
    });
    const { blockNumber: fromBlock } = await chain.waitForTransactionReceipt({ hash });
    const read = await chain.getContractEvents({ address: consumer, abi, eventName: "PriceRead", fromBlock });
    expect(read).toMatchObject([{ transactionHash: hash }]);
  });

  test.runIf(hasBrowser())("is found by the operator's page in the bundler's transaction", async () => {
    const browser = await launchBrowser();
    try {
      const answers = {
        eth_requestAccounts: { result: [account] },
        eth_accounts: { result: [account] },
        eth_sendTransaction: async (_: unknown, params: readonly unknown[]) => ({
          result: await send(params[0] as Call),
        }),
      };
      const prepare = installWallet(answers, { names: ["Smart Wallet"] }, devnet.chain);
      const path = `/42/${devnet.dataset}/${encodeURIComponent("SPOTPX/BTC-USD")}`;
      const { page, end } = await visit({ browser, devnet, chain }, path, { prepare });
      const form = formOf(page);
      await form.getByRole("radio", { name: /You/ }).check();
      const heading = form.getByRole("heading", { name: "Send the transaction" });
      await pressUntil(heading, () => form.getByRole("button", { name: "Prepare the transaction" }).click());
      await form.getByRole("button", { name: "Send with Smart Wallet" }).click();
      await form.getByText(/^The transaction was mined in block [\d,]+\. The value is stored\.$/).waitFor();
      await end();
    } finally {
      await browser.close();
    }
  });
});
