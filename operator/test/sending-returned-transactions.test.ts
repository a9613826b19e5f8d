import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { foundryBinary } from "@dataset-oracle/tools/foundry";
import { createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { givenTheOther, type SendReturned, testSending } from "./support/returned-transactions.js";

const runFile = promisify(execFile);

const node: SendReturned = ({ transaction }, { chain }) =>
  chain.client.request({
    method: "eth_sendTransaction",
    params: [{ from: chain.otherAccount, ...transaction }],
  } as never) as Promise<string>;

const cast: SendReturned = async ({ transaction: { to, data, gas, chainId } }, { chain, privateKey }) => {
  const options = ["--gas-limit", gas, "--chain", String(Number(chainId))];
  const wallet = ["--private-key", privateKey, "--rpc-url", chain.url];
  const { stdout } = await runFile(foundryBinary("cast"), ["send", to, data, ...options, ...wallet, "--json"]);
  return JSON.parse(stdout).transactionHash;
};

const viem =
  (account: "local" | "JSON-RPC"): SendReturned =>
  ({ transaction_request: request }, { chain, privateKey }) =>
    createWalletClient({
      account: account === "local" ? privateKeyToAccount(privateKey) : chain.otherAccount,
      chain: chain.client.chain,
      transport: http(chain.url),
    }).sendTransaction(request as never);

/** Signs without asking the node, so that the chain id is the request's. */
const viemOffline: SendReturned = async ({ transaction_request: request }, { chain, privateKey }) => {
  const account = privateKeyToAccount(privateKey);
  const nonce = await chain.nonce(account.address);
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  const serializedTransaction = await account.signTransaction({ ...request, nonce, ...fees } as never);
  return chain.client.sendRawTransaction({ serializedTransaction });
};

testSending([
  ["a node, by eth_sendTransaction", node],
  ["cast", cast],
  ["viem with a local account", viem("local")],
  ["viem with the node's account", viem("JSON-RPC")],
  ["viem, signing offline", viemOffline],
  ["viem with a local account, given what is for nodes", givenTheOther(viem("local"))],
  ["viem with the node's account, given what is for nodes", givenTheOther(viem("JSON-RPC"))],
  ["viem, signing what is for nodes offline", givenTheOther(viemOffline)],
]);
